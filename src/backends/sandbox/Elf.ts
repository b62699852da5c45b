/**
 * What an executable or a shared library says of itself.
 */
import { closeSync, openSync, readSync } from "node:fs"

/** What the dynamic loader reads of a file. */
export interface Elf {
  /** The loader that an executable asks for. */
  readonly interpreter: string | undefined
  /** The name by which other files ask for this library. */
  readonly name: string | undefined
}

const programInterpreter = 3
const programDynamic = 2
const programLoad = 1
const dynamicStringTable = 5n
const dynamicName = 14n

const textAt = (bytes: Buffer): string => bytes.subarray(0, Math.max(0, bytes.indexOf(0))).toString()

/** Reads a 64-bit little-endian file; undefined for any other. */
export const readElf = (path: string): Elf | undefined => {
  const file = openSync(path, "r")
  try {
    const part = (offset: number, length: number): Buffer => {
      const bytes = Buffer.alloc(length)
      return bytes.subarray(0, readSync(file, bytes, 0, length, offset))
    }
    const header = part(0, 64)
    if (header.length < 64 || header.readUInt32BE(0) !== 0x7f454c46 || header[4] !== 2 || header[5] !== 1) {
      return undefined
    }
    const size = header.readUInt16LE(54)
    const table = part(Number(header.readBigUInt64LE(32)), size * header.readUInt16LE(56))
    const segments = Array.from({ length: Math.floor(table.length / size) }, (_, index) => {
      const at = index * size
      return {
        type: table.readUInt32LE(at),
        offset: Number(table.readBigUInt64LE(at + 8)),
        address: Number(table.readBigUInt64LE(at + 16)),
        length: Number(table.readBigUInt64LE(at + 32))
      }
    })
    const named = segments.find((segment) => segment.type === programInterpreter)
    const dynamic = segments.find((segment) => segment.type === programDynamic)
    const entries = dynamic === undefined ? Buffer.alloc(0) : part(dynamic.offset, dynamic.length)
    let strings: number | undefined
    let name: number | undefined
    for (let at = 0; at + 16 <= entries.length; at += 16) {
      const tag = entries.readBigInt64LE(at)
      if (tag === dynamicStringTable) strings = Number(entries.readBigUInt64LE(at + 8))
      if (tag === dynamicName) name = Number(entries.readBigUInt64LE(at + 8))
    }
    const loaded = segments.find(
      (segment) =>
        segment.type === programLoad &&
        strings !== undefined &&
        strings >= segment.address &&
        strings < segment.address + segment.length
    )
    return {
      interpreter: named === undefined ? undefined : textAt(part(named.offset, named.length)),
      name:
        loaded === undefined || strings === undefined || name === undefined
          ? undefined
          : textAt(part(loaded.offset + strings - loaded.address + name, 256))
    }
  } finally {
    closeSync(file)
  }
}
