# vector: a hard limit, raised
import resource
resource.setrlimit(resource.RLIMIT_CORE, (1, 1))
return True
