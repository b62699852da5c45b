/**
 * The first program in a sandbox: a static executable, assembled here. It closes every descriptor above those that the
 * interpreter is meant to have, so that none of the host's leaks in, sets the resource limits inside the sandbox's own
 * user namespace, where the count of processes is the guest's alone, puts a filter on top of the one that it is held by
 * itself, and becomes the interpreter. It needs no shell and no library.
 *
 * Its arguments are the guest's environment (`NAME=value`, any number), an empty word, and the command. It exits with 126
 * where a step fails; a kernel older than 5.9 has no `close_range`.
 */
import type { Architecture } from "./SeccompFilter.ts"

/** The exit code of a trampoline that could not go on. */
export const failedCode = 126

/** Resources of `prlimit64`, the same on both machines. */
const resources = {
  cpu: 0,
  fileSize: 1,
  data: 2,
  core: 4,
  processes: 6,
  files: 7,
  lockedMemory: 8,
  addressSpace: 9,
  signals: 11
}

/**
 * The limit of core files that leaves none: below a page no file is written, and at 1, unlike at 0, the kernel does not
 * start the program that `core_pattern` may name, which is root on the host.
 */
export const noCore = 1

/** Pending signals and timers, which the kernel counts for the guest's user: where the host is no root, for the host too. */
export const mostSignals = 1024

/** A limit by resource: seconds for `cpu`, bytes for sizes, counts for the others. */
export type ResourceLimits = { readonly [resource in keyof typeof resources]?: number | undefined }

/** Limits that a host may have set lower itself, so that they cannot be raised to these. */
const mayStayLower: ReadonlySet<string> = new Set(["core", "signals"])

/**
 * From both machines' own assemblers; `FIRST` is the first descriptor that is closed. The table of limits follows the
 * code, 24 bytes each: the resource, a mask for an error, the soft and the hard limit. In the last one no resource but
 * all ones, then the length of the filter and where it is.
 */
const code: { readonly [name in Architecture]: string } = {
  x64: [
    "4889e3", //                mov rbx, rsp
    "b8b4010000bfFIRST", //     mov eax, 436 (close_range); mov edi, first
    "beffffffff31d20f05", //    mov esi, -1; xor edx, edx; syscall
    "4885c07877", //            test rax, rax; js fail
    "4c8d257c000000", //        lea r12, [rip + table]
    "418b342483feff741e", //    next: mov esi, [r12]; cmp esi, -1; je filter
    "31ff498d5424084531d2", //  xor edi, edi; lea rdx, [r12 + 8]; xor r10d, r10d
    "b82e0100000f05", //        mov eax, 302 (prlimit64); syscall
    "4123442404784f", //        and eax, [r12 + 4]; js fail
    "4983c418ebd9", //          add r12, 24; jmp next
    "6641837c240800741b", //    filter: cmp word [r12 + 8], 0; je go
    "bf16000000be02000000", //  mov edi, 22 (PR_SET_SECCOMP); mov esi, 2
    "498d542408b89d000000", //  lea rdx, [r12 + 8]; mov eax, 157 (prctl)
    "0f054885c07825", //        syscall; test rax, rax; js fail
    "488d53104889d6", //        go: lea rdx, [rbx + 16]; mov rsi, rdx
    "488b3e4883c608", //        scan: mov rdi, [rsi]; add rsi, 8
    "803f0075f4", //            cmp byte [rdi], 0; jne scan
    "48c746f800000000", //      mov qword [rsi - 8], 0
    "488b3eb83b0000000f05", //  mov rdi, [rsi]; mov eax, 59 (execve); syscall
    "bf7e000000b83c0000000f05" // fail: mov edi, 126; mov eax, 60 (exit); syscall
  ].join(""),
  arm64: [
    "f3030091", //         mov x19, sp
    "FIRST01008012", //    mov w0, #first; mov w1, #-1
    "02008052883680d2", // mov w2, #0; mov x8, #436 (close_range)
    "010000d40004f8b7", // svc #0; tbnz x0, #63, fail
    "74040010", //         adr x20, table
    "810240b93f040031", // next: ldr w1, [x20]; cmn w1, #1
    "60010054000080d2", // b.eq filter; mov x0, #0
    "82220091030080d2", // add x2, x20, #8; mov x3, #0
    "a82080d2010000d4", // mov x8, #261 (prlimit64); svc #0
    "830640b90000030a", // ldr w3, [x20, #4]; and w0, w0, w3
    "8002f83794620091", // tbnz w0, #31, fail; add x20, x20, #24
    "f4ffff17", //         b next
    "83124079e3000034", // filter: ldrh w3, [x20, #8]; cbz w3, go
    "c00280d2410080d2", // mov x0, #22 (PR_SET_SECCOMP); mov x1, #2
    "82220091e81480d2", // add x2, x20, #8; mov x8, #167 (prctl)
    "010000d44001f8b7", // svc #0; tbnz x0, #63, fail
    "62420091e10302aa", // go: add x2, x19, #16; mov x1, x2
    "208440f804004039", // scan: ldr x0, [x1], #8; ldrb w4, [x0]
    "c4ffff353f801ff8", // cbnz w4, scan; stur xzr, [x1, #-8]
    "200040f9a81b80d2", // ldr x0, [x1]; mov x8, #221 (execve)
    "010000d4", //         svc #0
    "c00f80d2a80b80d2", // fail: mov x0, #126; mov x8, #93 (exit)
    "010000d41f2003d5" //  svc #0; nop
  ].join("")
}

const machines: { readonly [name in Architecture]: number } = { x64: 62, arm64: 183 }

const base = 0x400000
const headerBytes = 64 + 56

/** The operand, or the instruction, that says which descriptor is the first to be closed. */
const firstClosed = (architecture: Architecture, descriptor: number): string => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(architecture === "x64" ? descriptor : (0x52800000 | (descriptor << 5)) >>> 0)
  return bytes.toString("hex")
}

/** The bytes of the executable, which closes every descriptor from `first` on; an empty `filter` is none. */
export const assemble = (
  architecture: Architecture,
  limits: ResourceLimits,
  filter: Uint8Array,
  first: number
): Uint8Array => {
  const instructions = Buffer.from(code[architecture].replace("FIRST", firstClosed(architecture, first)), "hex")
  const set = Object.entries(resources).flatMap(([name, resource]) => {
    const limit = Object.entries(limits).find(([key]) => key === name)?.[1]
    return limit === undefined
      ? []
      : [
          {
            resource,
            errors: mayStayLower.has(name) ? 0 : 0xffffffff,
            limit: BigInt(Math.min(Math.ceil(limit), Number.MAX_SAFE_INTEGER))
          }
        ]
  })
  const filterAt = headerBytes + instructions.length + 24 * (set.length + 1)
  const bytes = Buffer.alloc(filterAt + filter.length)
  // The header of a 64-bit little-endian executable with one segment, which is read and executed.
  bytes.write("\x7fELF\x02\x01\x01", "latin1")
  bytes.writeUInt16LE(2, 16)
  bytes.writeUInt16LE(machines[architecture], 18)
  bytes.writeUInt32LE(1, 20)
  bytes.writeBigUInt64LE(BigInt(base + headerBytes), 24)
  bytes.writeBigUInt64LE(64n, 32)
  bytes.writeUInt16LE(64, 52)
  bytes.writeUInt16LE(56, 54)
  bytes.writeUInt16LE(1, 56)
  bytes.writeUInt32LE(1, 64)
  bytes.writeUInt32LE(5, 68)
  bytes.writeBigUInt64LE(BigInt(base), 80)
  bytes.writeBigUInt64LE(BigInt(base), 88)
  bytes.writeBigUInt64LE(BigInt(bytes.length), 96)
  bytes.writeBigUInt64LE(BigInt(bytes.length), 104)
  bytes.writeBigUInt64LE(0x1000n, 112)
  instructions.copy(bytes, headerBytes)
  let at = headerBytes + instructions.length
  for (const { errors, limit, resource } of set) {
    bytes.writeUInt32LE(resource, at)
    bytes.writeUInt32LE(errors, at + 4)
    bytes.writeBigUInt64LE(limit, at + 8)
    bytes.writeBigUInt64LE(limit, at + 16)
    at += 24
  }
  bytes.writeUInt32LE(0xffffffff, at)
  // struct sock_fprog
  bytes.writeUInt16LE(filter.length / 8, at + 8)
  bytes.writeBigUInt64LE(BigInt(base + filterAt), at + 16)
  bytes.set(filter, filterAt)
  return bytes
}
