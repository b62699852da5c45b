/**
 * The sandbox's filter of system calls in the form that OCI engines take. `SeccompFilter.ts` has the table and the values;
 * only the form of the conditions on arguments is spelled anew here. A call that fails its condition ends as ENOSYS, as an
 * unknown one does.
 */
import { coreSize, namespaceFlags, permitted, rules } from "../SeccompFilter.ts"

interface Condition {
  readonly index: number
  readonly value: number
  readonly valueTwo?: number
  readonly op: "SCMP_CMP_EQ" | "SCMP_CMP_MASKED_EQ"
}

const errnos: { readonly [name: string]: number } = { EPERM: 1, EAFNOSUPPORT: 97, EOPNOTSUPP: 95, ENOSYS: 38 }

const is = (index: number, value: number): Condition => ({ index, value, op: "SCMP_CMP_EQ" })
const masked = (index: number, mask: number, value: number): Condition => ({
  index,
  value: mask,
  valueTwo: value,
  op: "SCMP_CMP_MASKED_EQ"
})

/** Every resource but RLIMIT_CORE. A condition compares all 64 bits, so those that are allowed are named. */
const otherThanCoreSize = Array.from({ length: 16 }, (_, resource) => resource).filter((it) => it !== coreSize)

/** For each call, the sets of conditions of which one must hold; the reasons are in `SeccompFilter.ts`. */
const conditions: { readonly [call: string]: ReadonlyArray<ReadonlyArray<Condition>> } = {
  // One profile for both languages: the user of a container is not the host's.
  epoll_create: [[]],
  epoll_create1: [[]],
  clone: [[masked(0, namespaceFlags, 0)]],
  prctl: permitted.prctl.map((option) => [is(0, option)]),
  ioctl: permitted.ioctl.map((request) => [is(1, request)]),
  fcntl: permitted.fcntl.map((command) => [is(1, command)]),
  setrlimit: otherThanCoreSize.map((resource) => [is(0, resource)]),
  prlimit64: [[is(0, 0), is(2, 0)], ...otherThanCoreSize.map((resource) => [is(0, 0), is(1, resource)])],
  socketpair: [[is(0, 1), masked(1, 0xf, 1)]],
  sendto: [[is(4, 0), masked(3, 1, 0)]],
  recvfrom: [[masked(3, 1, 0)]],
  sendmsg: [[masked(2, 1, 0)]],
  recvmsg: [[masked(2, 1, 0)]],
  getsockopt: permitted.getsockopt.map((option) => [is(1, 1), is(2, option)]),
  setsockopt: permitted.setsockopt.map((option) => [is(1, 1), is(2, option)])
}

const entries = rules.flatMap(({ call, decision }) => {
  if (decision === "allow") return [{ names: [call], action: "SCMP_ACT_ALLOW" }]
  const errnoRet = errnos[decision]
  if (errnoRet !== undefined) return [{ names: [call], action: "SCMP_ACT_ERRNO", errnoRet }]
  const sets = conditions[call]
  // Closed rather than open, should the table ever have a condition that is not spelled here.
  return (sets ?? []).map((args) => ({ names: [call], action: "SCMP_ACT_ALLOW", args }))
})

/** The profile as JSON. */
export const profile: string = JSON.stringify({
  defaultAction: "SCMP_ACT_ERRNO",
  defaultErrnoRet: errnos["ENOSYS"],
  syscalls: entries
})
