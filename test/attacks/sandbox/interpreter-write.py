# vector: the interpreter's own files
# control: root
import os
os.close(os.open(os.__file__, os.O_WRONLY))
return True
