import { readFileSync, writeFileSync } from 'node:fs';
import { assert } from '../../core/assert.ts';

/*
 * Stock LLVM compiles C for BPF but its linker does not know the target, and a Solana VM loads nothing but a shared
 * object. So this makes one from a single relocatable object: code and constants at fixed addresses, calls and
 * constant addresses resolved, system calls left to the loader as dynamic symbols.
 */

const ELF_MAGIC = 0x464c457f;
const ELF_HEADER_BYTES = 64;
const SECTION_HEADER_BYTES = 64;
const SYMBOL_BYTES = 24;
const RELOCATION_BYTES = 16;
const DYNAMIC_ENTRY_BYTES = 16;
const MACHINE_BPF = 247;
const TYPE_SHARED_OBJECT = 3;
const INSTRUCTION_BYTES = 8;

const SECTION = { progbits: 1, symtab: 2, strtab: 3, dynamic: 6, rel: 9, dynsym: 11 } as const;
const FLAG = { write: 1, alloc: 2, execute: 4 } as const;
const DYNAMIC = { end: 0, strtab: 5, symtab: 6, strsz: 10, rel: 17, relsz: 18, relent: 19 } as const;
/** Address of a constant in a two-word load, and target of a call. */
const RELOCATION = { address64: 1, call32: 10 } as const;
const SYMBOL_GLOBAL = 0x10;
/** The loader maps the file at this address of the program's memory. */
const PROGRAM_REGION = 1;

interface Section {
  index: number;
  name: string;
  type: number;
  flags: number;
  offset: number;
  size: number;
  link: number;
  info: number;
}

interface Symbol {
  name: string;
  section: number;
  value: number;
}

interface ObjectFile {
  bytes: Buffer;
  sections: readonly Section[];
  symbols: readonly Symbol[];
}

interface Layout {
  text: Section;
  textAddress: number;
  constants: readonly { section: Section; address: number }[];
  end: number;
}

/**
 * Returns the loadable shared object of one relocatable BPF object. Throws AssertionError on an object that it cannot
 * link.
 */
export function link(object: Uint8Array, entry = 'entrypoint'): Uint8Array {
  const file = readObject(Buffer.from(object));
  const layout = placeSections(file);
  const image = Buffer.alloc(layout.end);
  copySection(file, layout.text, image, layout.textAddress);
  for (const { section, address } of layout.constants) copySection(file, section, image, address);
  const calls = relocate(file, layout, image);
  const start = file.symbols.find((symbol) => symbol.name === entry && symbol.section === layout.text.index);
  assert(start, `expected a function "${entry}" in .text, found none`);
  return writeSharedObject({ image, layout, calls, entryAddress: layout.textAddress + start.value });
}

function readObject(bytes: Buffer): ObjectFile {
  assert(bytes.length > ELF_HEADER_BYTES && bytes.readUInt32LE(0) === ELF_MAGIC, 'expected an ELF file');
  assert(bytes.readUInt16LE(18) === MACHINE_BPF, `expected an object for BPF, got machine ${bytes.readUInt16LE(18)}`);
  const headersAt = Number(bytes.readBigUInt64LE(40));
  const namesIndex = bytes.readUInt16LE(62);
  const unnamed = Array.from({ length: bytes.readUInt16LE(60) }, (_, index) => {
    const at = headersAt + index * SECTION_HEADER_BYTES;
    return {
      index,
      nameOffset: bytes.readUInt32LE(at),
      type: bytes.readUInt32LE(at + 4),
      flags: Number(bytes.readBigUInt64LE(at + 8)),
      offset: Number(bytes.readBigUInt64LE(at + 24)),
      size: Number(bytes.readBigUInt64LE(at + 32)),
      link: bytes.readUInt32LE(at + 40),
      info: bytes.readUInt32LE(at + 44),
    };
  });
  const sections = unnamed.map((section) =>
    ({ ...section, name: readName(bytes, unnamed[namesIndex]!.offset + section.nameOffset) }));
  const table = sections.find((section) => section.type === SECTION.symtab);
  assert(table, 'expected a symbol table');
  const symbols = Array.from({ length: table.size / SYMBOL_BYTES }, (_, index) => {
    const at = table.offset + index * SYMBOL_BYTES;
    return {
      name: readName(bytes, sections[table.link]!.offset + bytes.readUInt32LE(at)),
      section: bytes.readUInt16LE(at + 6),
      value: Number(bytes.readBigUInt64LE(at + 8)),
    };
  });
  return { bytes, sections, symbols };
}

/** The loader wants each section's address to equal its offset in the file. */
function placeSections(file: ObjectFile): Layout {
  const text = file.sections.find((section) => section.name === '.text');
  assert(text, 'expected a section .text');
  let end = align(ELF_HEADER_BYTES + text.size);
  const constants: { section: Section; address: number }[] = [];
  for (const section of file.sections) {
    if ((section.flags & FLAG.alloc) === 0 || section.size === 0 || section === text) continue;
    assert(section.name.startsWith('.rodata'), `expected code and constants only, got section ${section.name}`);
    const address = align(end, 16);
    constants.push({ section, address });
    end = address + section.size;
  }
  return { text, textAddress: ELF_HEADER_BYTES, constants, end: align(end) };
}

interface SystemCall {
  address: number;
  name: string;
}

/** Resolves the relocations in `image`, and returns the calls that the loader must resolve. */
function relocate(file: ObjectFile, layout: Layout, image: Buffer): SystemCall[] {
  const { text, textAddress } = layout;
  const systemCalls: SystemCall[] = [];
  for (const section of file.sections) {
    if (section.type !== SECTION.rel || section.info !== text.index) continue;
    for (let at = section.offset; at < section.offset + section.size; at += RELOCATION_BYTES) {
      const address = textAddress + Number(file.bytes.readBigUInt64LE(at));
      const type = file.bytes.readUInt32LE(at + 8);
      const symbol = file.symbols[file.bytes.readUInt32LE(at + 12)]!;
      const constant = layout.constants.find((placed) => placed.section.index === symbol.section);
      if (type === RELOCATION.call32 && symbol.section === 0) {
        image.writeInt32LE(-1, address + 4);
        systemCalls.push({ address, name: symbol.name });
      } else if (type === RELOCATION.call32 && symbol.section === text.index) {
        // The compiler left the callee's place within its section, in instructions less one.
        const callee = textAddress + symbol.value + (image.readInt32LE(address + 4) + 1) * INSTRUCTION_BYTES;
        image.writeInt32LE((callee - address) / INSTRUCTION_BYTES - 1, address + 4);
      } else if (type === RELOCATION.address64 && constant) {
        image.writeUInt32LE(constant.address + symbol.value + image.readInt32LE(address + 4), address + 4);
        image.writeUInt32LE(PROGRAM_REGION, address + 4 + INSTRUCTION_BYTES);
      } else {
        assert(false, `expected a call or a constant's address, got relocation ${type} against "${symbol.name}"`);
      }
    }
  }
  return systemCalls;
}

interface OutputSection {
  name: string;
  type: number;
  flags: number;
  address: number;
  offset: number;
  size: number;
  link?: string;
  info?: number;
  entrySize?: number;
}

function writeSharedObject(
  options: { image: Buffer; layout: Layout; calls: readonly SystemCall[]; entryAddress: number },
): Uint8Array {
  const { image, layout, calls } = options;
  const imports = [...new Set(calls.map((call) => call.name))];
  const names = stringTable(imports);
  const symbols = Buffer.alloc((imports.length + 1) * SYMBOL_BYTES);
  imports.forEach((name, index) => {
    symbols.writeUInt32LE(names.offsets.get(name)!, (index + 1) * SYMBOL_BYTES);
    symbols.writeUInt8(SYMBOL_GLOBAL, (index + 1) * SYMBOL_BYTES + 4);
  });
  const relocations = Buffer.alloc(calls.length * RELOCATION_BYTES);
  calls.forEach(({ address, name }, index) => {
    relocations.writeBigUInt64LE(BigInt(address), index * RELOCATION_BYTES);
    relocations.writeUInt32LE(RELOCATION.call32, index * RELOCATION_BYTES + 8);
    relocations.writeUInt32LE(imports.indexOf(name) + 1, index * RELOCATION_BYTES + 12);
  });

  const dynamicAt = layout.end;
  const symbolsAt = dynamicAt + 7 * DYNAMIC_ENTRY_BYTES;
  const namesAt = symbolsAt + symbols.length;
  const relocationsAt = align(namesAt + names.bytes.length);
  const sectionNamesAt = relocationsAt + relocations.length;
  const dynamic = Buffer.alloc(7 * DYNAMIC_ENTRY_BYTES);
  const dynamicEntries = [
    [DYNAMIC.rel, relocationsAt],
    [DYNAMIC.relsz, relocations.length],
    [DYNAMIC.relent, RELOCATION_BYTES],
    [DYNAMIC.symtab, symbolsAt],
    [DYNAMIC.strtab, namesAt],
    [DYNAMIC.strsz, names.bytes.length],
    [DYNAMIC.end, 0],
  ] as const;
  dynamicEntries.forEach(([tag, value], index) => {
    dynamic.writeBigUInt64LE(BigInt(tag), index * DYNAMIC_ENTRY_BYTES);
    dynamic.writeBigUInt64LE(BigInt(value), index * DYNAMIC_ENTRY_BYTES + 8);
  });

  const sections: OutputSection[] = [
    placed('', 0, 0, 0, 0),
    placed('.text', SECTION.progbits, FLAG.alloc | FLAG.execute, layout.textAddress, layout.text.size),
    ...layout.constants.slice(0, 1)
      .map(({ address }) => placed('.rodata', SECTION.progbits, FLAG.alloc, address, layout.end - address)),
    {
      ...placed('.dynamic', SECTION.dynamic, FLAG.alloc | FLAG.write, dynamicAt, dynamic.length), link: '.dynstr',
      entrySize: DYNAMIC_ENTRY_BYTES,
    },
    {
      ...placed('.dynsym', SECTION.dynsym, FLAG.alloc, symbolsAt, symbols.length), link: '.dynstr', info: 1,
      entrySize: SYMBOL_BYTES,
    },
    placed('.dynstr', SECTION.strtab, FLAG.alloc, namesAt, names.bytes.length),
    {
      ...placed('.rel.dyn', SECTION.rel, FLAG.alloc, relocationsAt, relocations.length), link: '.dynsym',
      entrySize: RELOCATION_BYTES,
    },
  ];
  const sectionNames = stringTable([...sections.map((section) => section.name), '.shstrtab']);
  sections.push({ ...placed('.shstrtab', SECTION.strtab, 0, sectionNamesAt, sectionNames.bytes.length), address: 0 });
  const headersAt = align(sectionNamesAt + sectionNames.bytes.length);

  const output = Buffer.alloc(headersAt + sections.length * SECTION_HEADER_BYTES);
  image.copy(output);
  dynamic.copy(output, dynamicAt);
  symbols.copy(output, symbolsAt);
  names.bytes.copy(output, namesAt);
  relocations.copy(output, relocationsAt);
  sectionNames.bytes.copy(output, sectionNamesAt);
  sections.forEach((section, index) => {
    const linked = section.link === undefined ? 0 : sections.findIndex((other) => other.name === section.link);
    writeSectionHeader(output, headersAt + index * SECTION_HEADER_BYTES, {
      section, linked, nameOffset: sectionNames.offsets.get(section.name)!,
    });
  });
  writeElfHeader(output, { entryAddress: options.entryAddress, headersAt, sectionCount: sections.length });
  return output;
}

/** A section of the output whose address is its offset, as the loader wants it. */
function placed(name: string, type: number, flags: number, at: number, size: number): OutputSection {
  return { name, type, flags, address: at, offset: at, size };
}

function writeSectionHeader(
  output: Buffer, at: number, header: { section: OutputSection; linked: number; nameOffset: number },
): void {
  const { section } = header;
  output.writeUInt32LE(header.nameOffset, at);
  output.writeUInt32LE(section.type, at + 4);
  output.writeBigUInt64LE(BigInt(section.flags), at + 8);
  output.writeBigUInt64LE(BigInt(section.address), at + 16);
  output.writeBigUInt64LE(BigInt(section.offset), at + 24);
  output.writeBigUInt64LE(BigInt(section.size), at + 32);
  output.writeUInt32LE(header.linked, at + 40);
  output.writeUInt32LE(section.info ?? 0, at + 44);
  output.writeBigUInt64LE(8n, at + 48);
  output.writeBigUInt64LE(BigInt(section.entrySize ?? 0), at + 56);
}

function writeElfHeader(
  output: Buffer, header: { entryAddress: number; headersAt: number; sectionCount: number },
): void {
  const CLASS_64 = 2;
  const LITTLE_ENDIAN = 1;
  const CURRENT_VERSION = 1;
  const PROGRAM_HEADER_BYTES = 56;
  output.writeUInt32LE(ELF_MAGIC, 0);
  output.set([CLASS_64, LITTLE_ENDIAN, CURRENT_VERSION], 4);
  output.writeUInt16LE(TYPE_SHARED_OBJECT, 16);
  output.writeUInt16LE(MACHINE_BPF, 18);
  output.writeUInt32LE(CURRENT_VERSION, 20);
  output.writeBigUInt64LE(BigInt(header.entryAddress), 24);
  // No program headers: the loader goes by sections.
  output.writeBigUInt64LE(BigInt(ELF_HEADER_BYTES), 32);
  output.writeBigUInt64LE(BigInt(header.headersAt), 40);
  [ELF_HEADER_BYTES, PROGRAM_HEADER_BYTES, 0, SECTION_HEADER_BYTES, header.sectionCount, header.sectionCount - 1]
    .forEach((value, index) =>
      output.writeUInt16LE(value, 52 + index * 2),
    );
}

function copySection(file: ObjectFile, section: Section, image: Buffer, address: number): void {
  file.bytes.copy(image, address, section.offset, section.offset + section.size);
}

function stringTable(names: readonly string[]): { bytes: Buffer; offsets: ReadonlyMap<string, number> } {
  const offsets = new Map<string, number>([['', 0]]);
  let text = '\0';
  for (const name of names) {
    if (offsets.has(name)) continue;
    offsets.set(name, text.length);
    text += `${name}\0`;
  }
  return { bytes: Buffer.from(text, 'latin1'), offsets };
}

function readName(bytes: Buffer, at: number): string {
  return bytes.toString('latin1', at, bytes.indexOf(0, at));
}

function align(value: number, to = 8): number {
  return Math.ceil(value / to) * to;
}

if (import.meta.main) {
  const [input, output] = process.argv.slice(2);
  assert(input !== undefined && output !== undefined, 'usage: node link.ts swap.o swap.so');
  writeFileSync(output, link(readFileSync(input)));
}
