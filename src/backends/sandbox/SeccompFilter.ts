/**
 * The system calls that a sandboxed guest may make: an allow-list, assembled into the classic BPF program that the kernel
 * runs on every call. `docs/sandbox.md` shows the same table; `scripts/print-seccomp.mjs` prints it.
 */

/** A machine that the filter can be assembled for, as Node names it. */
export type Architecture = "x64" | "arm64"

/** Numbers of calls by name: on x86-64 and on arm64, `undefined` where there is no such call. */
type Numbers = { readonly [name: string]: readonly [number | undefined, number | undefined] }

interface Group {
  readonly why: string
  readonly calls: Numbers
}

/** Errors that refused calls end with. */
const errnos = { EPERM: 1, EINVAL: 22, ENOTTY: 25, ENOSYS: 38, ENOPROTOOPT: 92, EOPNOTSUPP: 95, EAFNOSUPPORT: 97 }

/** What one line of the table says. */
export interface Rule {
  readonly call: string
  readonly numbers: readonly [number | undefined, number | undefined]
  /** `allow`, the name of the error that it ends with, or what its arguments must be. */
  readonly decision: string
  readonly why: string
}

/** Calls that are allowed whatever their arguments. */
const allowed: ReadonlyArray<Group> = [
  {
    why: "files of its own mount namespace, which holds nothing but its interpreter and /tmp",
    calls: {
      read: [0, 63],
      write: [1, 64],
      readv: [19, 65],
      writev: [20, 66],
      pread64: [17, 67],
      pwrite64: [18, 68],
      preadv: [295, 69],
      pwritev: [296, 70],
      open: [2, undefined],
      openat: [257, 56],
      creat: [85, undefined],
      close: [3, 57],
      close_range: [436, 436],
      lseek: [8, 62],
      stat: [4, undefined],
      fstat: [5, 80],
      lstat: [6, undefined],
      newfstatat: [262, 79],
      statx: [332, 291],
      access: [21, undefined],
      faccessat: [269, 48],
      faccessat2: [439, 439],
      readlink: [89, undefined],
      readlinkat: [267, 78],
      getdents: [78, undefined],
      getdents64: [217, 61],
      mkdir: [83, undefined],
      mkdirat: [258, 34],
      rmdir: [84, undefined],
      unlink: [87, undefined],
      unlinkat: [263, 35],
      rename: [82, undefined],
      renameat: [264, 38],
      renameat2: [316, 276],
      link: [86, undefined],
      linkat: [265, 37],
      symlink: [88, undefined],
      symlinkat: [266, 36],
      truncate: [76, 45],
      ftruncate: [77, 46],
      fallocate: [285, 47],
      fsync: [74, 82],
      fdatasync: [75, 83],
      chmod: [90, undefined],
      fchmod: [91, 52],
      fchmodat: [268, 53],
      utime: [132, undefined],
      utimes: [235, undefined],
      utimensat: [280, 88],
      futimesat: [261, undefined],
      umask: [95, 166],
      chdir: [80, 49],
      fchdir: [81, 50],
      getcwd: [79, 17],
      dup: [32, 23],
      dup2: [33, undefined],
      dup3: [292, 24],
      flock: [73, 32],
      pipe: [22, undefined],
      pipe2: [293, 59],
      sendfile: [40, 71],
      copy_file_range: [326, 285],
      splice: [275, 76],
      fadvise64: [221, 223],
      statfs: [137, 43],
      fstatfs: [138, 44]
    }
  },
  {
    why: "memory of its own, within maxMemoryMb",
    calls: {
      mmap: [9, 222],
      mprotect: [10, 226],
      munmap: [11, 215],
      mremap: [25, 216],
      madvise: [28, 233],
      brk: [12, 214],
      msync: [26, 227],
      mincore: [27, 232],
      membarrier: [324, 283],
      pkey_alloc: [330, 289],
      pkey_free: [331, 290],
      pkey_mprotect: [329, 288]
    }
  },
  {
    why: "processes and threads of its own pid namespace, within maxProcesses",
    calls: {
      fork: [57, undefined],
      vfork: [58, undefined],
      execve: [59, 221],
      exit: [60, 93],
      exit_group: [231, 94],
      wait4: [61, 260],
      waitid: [247, 95],
      getpid: [39, 172],
      getppid: [110, 173],
      gettid: [186, 178],
      getuid: [102, 174],
      geteuid: [107, 175],
      getgid: [104, 176],
      getegid: [108, 177],
      getresuid: [118, 148],
      getresgid: [120, 150],
      getgroups: [115, 158],
      setsid: [112, 157],
      getsid: [124, 156],
      setpgid: [109, 154],
      getpgid: [121, 155],
      getpgrp: [111, undefined],
      set_tid_address: [218, 96],
      set_robust_list: [273, 99],
      get_robust_list: [274, 100],
      rseq: [334, 293],
      arch_prctl: [158, undefined],
      getrlimit: [97, 163],
      getrusage: [98, 165],
      times: [100, 153],
      sched_yield: [24, 124],
      sched_getaffinity: [204, 123],
      sched_getparam: [143, 121],
      sched_getscheduler: [145, 120],
      sched_get_priority_max: [146, 125],
      sched_get_priority_min: [147, 126],
      getpriority: [140, 141],
      capget: [125, 90],
      getcpu: [309, 168]
    }
  },
  {
    why: "signals reach its own pid namespace only",
    calls: {
      kill: [62, 129],
      tgkill: [234, 131],
      tkill: [200, 130],
      pidfd_open: [434, 434],
      pidfd_send_signal: [424, 424],
      rt_sigaction: [13, 134],
      rt_sigprocmask: [14, 135],
      rt_sigreturn: [15, 139],
      rt_sigpending: [127, 136],
      rt_sigtimedwait: [128, 137],
      rt_sigsuspend: [130, 133],
      sigaltstack: [131, 132],
      restart_syscall: [219, 128],
      pause: [34, undefined]
    }
  },
  {
    why: "clocks and timers",
    calls: {
      alarm: [37, undefined],
      setitimer: [38, 103],
      getitimer: [36, 102],
      timer_create: [222, 107],
      timer_settime: [223, 110],
      timer_delete: [226, 111],
      timer_gettime: [224, 108],
      timer_getoverrun: [225, 109],
      timerfd_create: [283, 85],
      timerfd_settime: [286, 86],
      timerfd_gettime: [287, 87],
      nanosleep: [35, 101],
      clock_nanosleep: [230, 115],
      clock_gettime: [228, 113],
      clock_getres: [229, 114],
      gettimeofday: [96, 169],
      time: [201, undefined]
    }
  },
  {
    why: "waiting for descriptors and locks",
    calls: {
      epoll_ctl: [233, 21],
      epoll_wait: [232, undefined],
      epoll_pwait: [281, 22],
      epoll_pwait2: [441, 441],
      poll: [7, undefined],
      ppoll: [271, 73],
      select: [23, undefined],
      pselect6: [270, 72],
      eventfd: [284, undefined],
      eventfd2: [290, 19],
      futex: [202, 98]
    }
  },
  {
    why: "the ends of socket pairs and of its channel",
    calls: {
      shutdown: [48, 210],
      getsockname: [51, 204],
      getpeername: [52, 205]
    }
  },
  {
    why: "facts of the machine and random bytes",
    calls: {
      uname: [63, 160],
      sysinfo: [99, 179],
      getrandom: [318, 278]
    }
  }
]

/** Calls that are refused by name, so that the reason can be read; what no table names is refused as ENOSYS. */
const refused: ReadonlyArray<Group & { readonly errno: keyof typeof errnos }> = [
  {
    errno: "ENOSYS",
    why: "its flags lie in memory, where no filter sees them; libraries then call clone",
    calls: {
      clone3: [435, 435]
    }
  },
  {
    errno: "EPERM",
    why: "new namespaces and other roots",
    calls: {
      unshare: [272, 97],
      setns: [308, 268],
      chroot: [161, 51],
      pivot_root: [155, 41]
    }
  },
  {
    errno: "EPERM",
    why: "mounts, by the old and the new calls",
    calls: {
      mount: [165, 40],
      umount2: [166, 39],
      fsopen: [430, 430],
      fsconfig: [431, 431],
      fsmount: [432, 432],
      fspick: [433, 433],
      move_mount: [429, 429],
      open_tree: [428, 428],
      mount_setattr: [442, 442],
      quotactl: [179, 60]
    }
  },
  {
    errno: "EPERM",
    why: "other processes' memory, descriptors and state",
    calls: {
      ptrace: [101, 117],
      process_vm_readv: [310, 270],
      process_vm_writev: [311, 271],
      process_madvise: [440, 440],
      pidfd_getfd: [438, 438],
      kcmp: [312, 272]
    }
  },
  {
    errno: "EPERM",
    why: "programs inside the kernel and what observes it",
    calls: {
      bpf: [321, 280],
      perf_event_open: [298, 241],
      userfaultfd: [323, 282],
      syslog: [103, 116],
      lookup_dcookie: [212, 18]
    }
  },
  {
    errno: "EPERM",
    why: "a second way to make calls, which no filter sees",
    calls: {
      io_uring_setup: [425, 425],
      io_uring_enter: [426, 426],
      io_uring_register: [427, 427]
    }
  },
  {
    errno: "EPERM",
    why: "keyrings of the host",
    calls: {
      keyctl: [250, 219],
      add_key: [248, 217],
      request_key: [249, 218]
    }
  },
  {
    errno: "EPERM",
    why: "layouts and emulations that weaken a process",
    calls: {
      personality: [135, 92],
      modify_ldt: [154, undefined]
    }
  },
  {
    errno: "EAFNOSUPPORT",
    why: "sockets of every family, AF_UNIX, AF_VSOCK, AF_NETLINK and AF_ALG included",
    calls: {
      socket: [41, 198]
    }
  },
  {
    errno: "EPERM",
    why: "what only a socket could do",
    calls: {
      connect: [42, 203],
      bind: [49, 200],
      listen: [50, 201],
      accept: [43, 202],
      accept4: [288, 242],
      sendmmsg: [307, 269],
      recvmmsg: [299, 243]
    }
  },
  {
    errno: "EPERM",
    why: "files without a path, which no size cap counts, and files by handle",
    calls: {
      memfd_create: [319, 279],
      memfd_secret: [447, 447],
      name_to_handle_at: [303, 264],
      open_by_handle_at: [304, 265]
    }
  },
  {
    errno: "EPERM",
    why: "devices, owners and identities",
    calls: {
      mknod: [133, undefined],
      mknodat: [259, 33],
      chown: [92, undefined],
      fchown: [93, 55],
      lchown: [94, undefined],
      fchownat: [260, 54],
      setuid: [105, 146],
      setgid: [106, 144],
      setreuid: [113, 145],
      setregid: [114, 143],
      setresuid: [117, 147],
      setresgid: [119, 149],
      setgroups: [116, 159],
      setfsuid: [122, 151],
      setfsgid: [123, 152],
      capset: [126, 91]
    }
  },
  {
    errno: "EPERM",
    why: "shares of the processor and of memory that is locked or placed",
    calls: {
      setpriority: [141, 140],
      sched_setscheduler: [144, 119],
      sched_setparam: [142, 118],
      sched_setattr: [314, 274],
      sched_setaffinity: [203, 122],
      mlock: [149, 228],
      mlock2: [325, 284],
      mlockall: [151, 230],
      mbind: [237, 235],
      set_mempolicy: [238, 237],
      migrate_pages: [256, 238],
      move_pages: [279, 239]
    }
  },
  {
    errno: "EOPNOTSUPP",
    why: "extended attributes, which no size cap counts",
    calls: {
      setxattr: [188, 5],
      lsetxattr: [189, 6],
      fsetxattr: [190, 7],
      getxattr: [191, 8],
      lgetxattr: [192, 9],
      fgetxattr: [193, 10],
      listxattr: [194, 11],
      llistxattr: [195, 12],
      flistxattr: [196, 13],
      removexattr: [197, 14],
      lremovexattr: [198, 15],
      fremovexattr: [199, 16]
    }
  },
  {
    errno: "ENOSYS",
    why: "memory and queues that outlive a process",
    calls: {
      shmget: [29, 194],
      shmat: [30, 196],
      shmctl: [31, 195],
      semget: [64, 190],
      semop: [65, 193],
      semctl: [66, 191],
      msgget: [68, 186],
      msgsnd: [69, 189],
      msgctl: [71, 187],
      mq_open: [240, 180]
    }
  },
  {
    errno: "ENOSYS",
    why: "seldom used; less of the kernel to reach",
    calls: {
      inotify_init: [253, undefined],
      inotify_init1: [294, 26],
      fanotify_init: [300, 262],
      signalfd: [282, undefined],
      signalfd4: [289, 74],
      openat2: [437, 437],
      futex_waitv: [449, 449],
      execveat: [322, 281],
      vmsplice: [278, 75],
      tee: [276, 77],
      seccomp: [317, 277],
      landlock_create_ruleset: [444, 444],
      rt_sigqueueinfo: [129, 138],
      rt_tgsigqueueinfo: [297, 240]
    }
  },
  {
    errno: "EPERM",
    why: "the machine itself",
    calls: {
      acct: [163, 89],
      swapon: [167, 224],
      swapoff: [168, 225],
      reboot: [169, 142],
      kexec_load: [246, 104],
      kexec_file_load: [320, 294],
      init_module: [175, 105],
      finit_module: [313, 273],
      delete_module: [176, 106],
      iopl: [172, undefined],
      ioperm: [173, undefined],
      settimeofday: [164, 170],
      clock_settime: [227, 112],
      adjtimex: [159, 171],
      clock_adjtime: [305, 266],
      sethostname: [170, 161],
      setdomainname: [171, 162],
      vhangup: [153, 58],
      nfsservctl: [180, 42]
    }
  }
]

/**
 * What epoll watches the kernel counts for the user, and Node dies where that is used up: a guest of a host that is no root
 * could end it. Node's own guests cannot do without; CPython takes poll instead.
 */
const watching = {
  decision: "allow for TypeScript, ENOSYS for Python",
  why: "what it watches is counted for the user, which may be the host's; Python has poll instead",
  calls: { epoll_create: [213, undefined], epoll_create1: [291, 20] } satisfies Numbers
}

// ---- the assembler

/** One instruction of classic BPF: code, jump if true, jump if false, operand. */
type Instruction = readonly [code: number, jumpTrue: number, jumpFalse: number, operand: number]

const loadWord = 0x20
const jumpEqual = 0x15
const jumpAtLeast = 0x35
const jumpAnySet = 0x45
const bitAnd = 0x54
const giveBack = 0x06

const returnAllow = 0x7fff0000
const returnErrno = 0x00050000
const returnKill = 0x80000000

/** Offsets in what the kernel hands to a filter. */
const offsetOfNumber = 0
const offsetOfArchitecture = 4
const offsetOfArgument = (index: number): number => 16 + 8 * index

const architectures: { readonly [name in Architecture]: { readonly token: number; readonly column: 0 | 1 } } = {
  x64: { token: 0xc000003e, column: 0 },
  arm64: { token: 0xc00000b7, column: 1 }
}

const give = (value: number): Instruction => [giveBack, 0, 0, value]
const refuse = (errno: keyof typeof errnos): Instruction => give(returnErrno | errnos[errno])
const load = (offset: number): Instruction => [loadWord, 0, 0, offset]

/** Allows the values, refuses every other one; the value is loaded already. */
const onlyValues = (values: ReadonlyArray<number>, errno: keyof typeof errnos): ReadonlyArray<Instruction> => [
  ...values.flatMap((value): ReadonlyArray<Instruction> => [[jumpEqual, 0, 1, value], give(returnAllow)]),
  refuse(errno)
]

/** Goes on with one value, refuses every other one; the value is loaded already. */
const only = (value: number, errno: keyof typeof errnos): ReadonlyArray<Instruction> => [
  [jumpEqual, 1, 0, value],
  refuse(errno)
]

/** Goes on where the argument at `index` is 0 in all its 64 bits. */
const onlyZero = (index: number, errno: keyof typeof errnos): ReadonlyArray<Instruction> => [
  load(offsetOfArgument(index)),
  ...only(0, errno),
  load(offsetOfArgument(index) + 4),
  ...only(0, errno)
]

interface Check {
  readonly numbers: readonly [number | undefined, number | undefined]
  readonly decision: string
  readonly why: string
  readonly body: ReadonlyArray<Instruction>
}

/** RLIMIT_CORE. */
export const coreSize = 4

/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET; NEWTIME is no flag of this call. */
export const namespaceFlags = 0x7e020000

/** Allows calls whose flags, the argument at `index`, have no MSG_OOB. */
const notOutOfBand = (index: number): ReadonlyArray<Instruction> => [
  load(offsetOfArgument(index)),
  [jumpAnySet, 0, 1, 1],
  refuse("EOPNOTSUPP"),
  give(returnAllow)
]
const inBand = {
  decision: "allow without MSG_OOB, else EOPNOTSUPP",
  why: "the ends of socket pairs and of its channel"
}

/** Allows the options of sockets themselves, SOL_SOCKET. */
const ofSocketLevel = (options: ReadonlyArray<number>): ReadonlyArray<Instruction> => [
  load(offsetOfArgument(1)),
  ...only(1, "ENOPROTOOPT"),
  load(offsetOfArgument(2)),
  ...onlyValues(options, "ENOPROTOOPT")
]

/** What calls of many uses may be asked for. */
export const permitted = {
  // PDEATHSIG 1 and 2, DUMPABLE 3 and 4, NAME 15 and 16, CAPBSET_READ 23, NO_NEW_PRIVS 38 and 39, SET_VMA.
  prctl: [1, 2, 3, 4, 15, 16, 23, 38, 39, 0x53564d41],
  ioctl: [0x541b, 0x5421, 0x5451, 0x5450, 0x5401, 0x802c542a, 0x5413],
  // DUPFD 0, GETFD and SETFD, GETFL and SETFL, GETLK, SETLK and SETLKW, the OFD_ three, DUPFD_QUERY, DUPFD_CLOEXEC,
  // SETPIPE_SZ and GETPIPE_SZ, GET_SEALS.
  fcntl: [0, 1, 2, 3, 4, 5, 6, 7, 36, 37, 38, 1027, 1030, 1031, 1032, 1034],
  // REUSEADDR 2, TYPE, ERROR, SNDBUF and RCVBUF, KEEPALIVE, LINGER 13, RCVTIMEO and SNDTIMEO, ACCEPTCONN, PROTOCOL, DOMAIN.
  getsockopt: [2, 3, 4, 7, 8, 9, 13, 20, 21, 30, 38, 39],
  setsockopt: [7, 8, 9, 20, 21]
}

/** Calls that are allowed for some arguments. */
const checked: { readonly [name: string]: Check } = {
  clone: {
    numbers: [56, 220],
    decision: "allow without CLONE_NEW* flags, else EPERM",
    why: "threads and processes, never a namespace",
    body: [load(offsetOfArgument(0)), [jumpAnySet, 0, 1, namespaceFlags], refuse("EPERM"), give(returnAllow)]
  },
  prctl: {
    numbers: [157, 167],
    decision:
      "allow names, dumpable, the parent's death signal, no_new_privs and reading the bounding set, else EINVAL",
    why: "what runtimes ask of themselves; no seccomp, no capabilities, no tracer",
    body: [load(offsetOfArgument(0)), ...onlyValues(permitted.prctl, "EINVAL")]
  },
  ioctl: {
    numbers: [16, 29],
    decision: "allow FIONREAD, FIONBIO, FIOCLEX, FIONCLEX, TCGETS and TIOCGWINSZ, else ENOTTY",
    why: "readiness and 'is it a terminal'; TIOCSTI and every device's own requests are refused",
    body: [load(offsetOfArgument(1)), ...onlyValues(permitted.ioctl, "ENOTTY")]
  },
  fcntl: {
    numbers: [72, 25],
    decision: "allow duplicates, flags, locks and the sizes of pipes, else EINVAL",
    why: "no leases and no hints on files of the host, no news of who else uses them, no signals to owners",
    body: [load(offsetOfArgument(1)), ...onlyValues(permitted.fcntl, "EINVAL")]
  },
  setrlimit: {
    numbers: [160, 164],
    decision: "allow but for RLIMIT_CORE, else EPERM",
    why: "at 1, and at no other value, it keeps the kernel from starting the host's own handler of crashes",
    body: [load(offsetOfArgument(0)), [jumpEqual, 0, 1, coreSize], refuse("EPERM"), give(returnAllow)]
  },
  prlimit64: {
    numbers: [302, 261],
    decision: "allow for the caller itself (pid 0), and of RLIMIT_CORE only reading, else EPERM",
    why: "limits can be read, and lowered; no other process's",
    body: [
      load(offsetOfArgument(0)),
      ...only(0, "EPERM"),
      load(offsetOfArgument(1)),
      [jumpEqual, 1, 0, coreSize],
      give(returnAllow),
      ...onlyZero(2, "EPERM"),
      give(returnAllow)
    ]
  },
  socketpair: {
    numbers: [53, 199],
    decision: "allow AF_UNIX streams, else EAFNOSUPPORT",
    why: "what event loops and children's standard streams are made of; its ends reach nothing else",
    body: [
      load(offsetOfArgument(0)),
      ...only(1, "EAFNOSUPPORT"),
      load(offsetOfArgument(1)),
      [bitAnd, 0, 0, 0xf],
      ...onlyValues([1], "EAFNOSUPPORT")
    ]
  },
  sendto: {
    numbers: [44, 206],
    decision: "allow without an address, else EPERM, and without MSG_OOB, else EOPNOTSUPP",
    why: "writing to a connected stream; out of band, the kernel's seldom trodden way, had flaws",
    body: [...onlyZero(4, "EPERM"), ...notOutOfBand(3)]
  },
  recvfrom: { numbers: [45, 207], ...inBand, body: notOutOfBand(3) },
  sendmsg: { numbers: [46, 211], ...inBand, body: notOutOfBand(2) },
  recvmsg: { numbers: [47, 212], ...inBand, body: notOutOfBand(2) },
  getsockopt: {
    numbers: [55, 209],
    decision: "allow what tells of the socket itself, else ENOPROTOOPT",
    why: "no handle and no label of the process at the other end, which is the host",
    body: ofSocketLevel(permitted.getsockopt)
  },
  setsockopt: {
    numbers: [54, 208],
    decision: "allow SO_SNDBUF, SO_RCVBUF, SO_KEEPALIVE, SO_RCVTIMEO and SO_SNDTIMEO, else ENOPROTOOPT",
    why: "what runtimes set; no filters on sockets",
    body: ofSocketLevel(permitted.setsockopt)
  }
}

/** Every rule, in the order of the table. */
export const rules: ReadonlyArray<Rule> = [
  ...allowed.flatMap(({ calls, why }) =>
    Object.entries(calls).map(([call, numbers]) => ({ call, numbers, decision: "allow", why }))
  ),
  ...Object.entries<Numbers[string]>(watching.calls).map(([call, numbers]) => ({
    call,
    numbers,
    decision: watching.decision,
    why: watching.why
  })),
  ...Object.entries(checked).map(([call, { decision, numbers, why }]) => ({ call, numbers, decision, why })),
  ...refused.flatMap(({ calls, errno, why }) =>
    Object.entries(calls).map(([call, numbers]) => ({ call, numbers, decision: errno, why }))
  )
]

/** Who is held by a filter: a guest of either language, what starts a guest, a zygote. */
export type Role = keyof typeof unchecked

/**
 * Calls that each may make whatever their arguments. What starts a guest sets its limits and puts the guests' filter on
 * top of its own; a zygote does so in each fork, in which it also makes namespaces, mounts, and gives up its rights.
 */
const unchecked = {
  typescript: Object.keys(watching.calls),
  python: [],
  start: [...Object.keys(watching.calls), "prlimit64", "prctl"],
  zygote: ["prlimit64", "prctl", "clone", "mount", "capset"]
} as const

/** The number of a call that a rule names. */
export const numberOf = (call: string, architecture: Architecture): number | undefined =>
  rules.find((rule) => rule.call === call)?.numbers[architectures[architecture].column]

/**
 * The filter's instructions.
 * A call of another architecture ends the process; a call of the x32 table and any call without a rule ends as ENOSYS.
 */
export const assemble = (architecture: Architecture, role: Role): ReadonlyArray<Instruction> => {
  const { column, token } = architectures[architecture]
  const program: Array<Instruction> = [
    load(offsetOfArchitecture),
    [jumpEqual, 1, 0, token],
    give(returnKill),
    load(offsetOfNumber)
  ]
  if (architecture === "x64") program.push([jumpAtLeast, 0, 1, 0x40000000], refuse("ENOSYS"))
  for (const call of unchecked[role]) {
    const number = numberOf(call, architecture)
    if (number !== undefined) program.push([jumpEqual, 0, 1, number], give(returnAllow))
  }
  for (const { calls } of allowed) {
    for (const numbers of Object.values(calls)) {
      const number = numbers[column]
      if (number !== undefined) program.push([jumpEqual, 0, 1, number], give(returnAllow))
    }
  }
  for (const { body, numbers } of Object.values(checked)) {
    const number = numbers[column]
    if (number !== undefined) program.push([jumpEqual, 0, body.length, number], ...body)
  }
  for (const { calls, errno } of refused) {
    for (const numbers of Object.values(calls)) {
      const number = numbers[column]
      if (number !== undefined) program.push([jumpEqual, 0, 1, number], refuse(errno))
    }
  }
  program.push(refuse("ENOSYS"))
  return program
}

/** The bytes of the filter, as the kernel and bubblewrap's `--add-seccomp-fd` read them. */
export const encode = (architecture: Architecture, role: Role): Uint8Array => {
  const program = assemble(architecture, role)
  const bytes = new DataView(new ArrayBuffer(program.length * 8))
  program.forEach(([code, jumpTrue, jumpFalse, operand], index) => {
    bytes.setUint16(index * 8, code, true)
    bytes.setUint8(index * 8 + 2, jumpTrue)
    bytes.setUint8(index * 8 + 3, jumpFalse)
    bytes.setUint32(index * 8 + 4, operand >>> 0, true)
  })
  return new Uint8Array(bytes.buffer)
}
