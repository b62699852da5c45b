# vector: control groups, and with them release_agent
import os
return any(name in ("release_agent", "cgroup.procs") for _, _, names in os.walk("/sys/fs/cgroup") for name in names)
