// SPDX-License-Identifier: Apache-2.0
// read.mjs FILE.mcap LINES.jsonl: reads the file with @mcap/core (from front to back, and by its index), decodes every message
// with @foxglove/rosmsg2-serialization by the schema in the file, and compares with the lines of `bag cat`. What that library
// writes from the decoded message must be our bytes again.
import { McapIndexedReader, McapStreamReader } from "@mcap/core";
import { parse } from "@foxglove/rosmsg";
import { MessageReader, MessageWriter } from "@foxglove/rosmsg2-serialization";
import { decompress } from "fzstd";
import { readFileSync } from "node:fs";

const decompressHandlers = { zstd: (data, size) => decompress(data, new Uint8Array(Number(size))) };
const bytes = readFileSync(process.argv[2]);
// Whole numbers beyond 2^53 stay text.
const wide = (line) => line.replace(/([:[,])(-?\d{16,})(?=[,\]}])/g, '$1"$2"');
const expected = readFileSync(process.argv[3], "utf8").split("\n").filter((line) => line !== "").map((line) => JSON.parse(wide(line)));

function fail(text) {
  console.error(text);
  process.exit(1);
}

/// Throws where a decoded value is not what the line says.
function compare(value, line, path) {
  const differs = () => fail(`${path}: peer has ${String(value)}, bag cat ${JSON.stringify(line)}`);
  if (typeof value === "bigint" || (typeof value === "number" && typeof line === "string")) {
    const text = Number.isNaN(value) ? "nan" : value === Infinity ? "inf" : value === -Infinity ? "-inf" : String(value);
    if (text !== String(line)) differs();
  } else if (typeof value === "number") {
    if (value !== line && value !== Math.fround(line)) differs();
  } else if (ArrayBuffer.isView(value) || Array.isArray(value)) {
    if (value.length !== line.length) differs();
    for (let i = 0; i < value.length; ++i) compare(value[i], line[i], `${path}[${i}]`);
  } else if (typeof value === "object") {
    if (Object.keys(value).join() !== Object.keys(line).join()) differs();
    for (const key of Object.keys(value)) compare(value[key], line[key], `${path}.${key}`);
  } else if (value !== line) {
    differs();
  }
}

class Decoder {
  schemas = new Map();
  channels = new Map();
  index = 0;
  rewritten = 0;
  see(record) {
    if (record.type === "Schema") this.schemas.set(record.id, record);
    if (record.type === "Channel") this.channels.set(record.id, record);
    if (record.type === "Message") this.message(record);
  }
  message(record) {
    const channel = this.channels.get(record.channelId);
    const schema = this.schemas.get(channel.schemaId);
    const line = expected[this.index++];
    if (line === undefined) fail(`the peer finds more than ${expected.length} messages`);
    if (channel.messageEncoding !== "cdr" || schema.encoding !== "ros2msg") fail(`${channel.topic}: ${channel.messageEncoding}, ${schema.encoding}`);
    if (channel.topic !== line.topic || schema.name !== line.type) fail(`message ${this.index}: ${channel.topic} of ${schema.name}`);
    if (String(record.logTime) !== String(line.log_time)) fail(`message ${this.index}: at ${record.logTime}`);
    const definition = parse(new TextDecoder().decode(schema.data), { ros2: true });
    if (definition[0].definitions.filter((each) => !each.isConstant).length === 0) return; // that library cannot read a message of nothing
    const decoded = new MessageReader(definition).readMessage(record.data);
    compare(decoded, line.message, channel.topic);
    if (/[^\x00-\x7f]/.test(JSON.stringify(line.message))) return; // its writer counts characters of a string, not bytes
    ++this.rewritten;
    const written = new MessageWriter(definition).writeMessage(decoded);
    if (Buffer.compare(Buffer.from(written), Buffer.from(record.data)) !== 0) fail(`${channel.topic}: the peer writes other bytes`);
  }
  done(how) {
    if (this.index !== expected.length) fail(`${how}: ${this.index} of ${expected.length} messages`);
  }
}

const streamed = new Decoder();
const stream = new McapStreamReader({ decompressHandlers, validateCrcs: true });
stream.append(bytes);
for (let record; (record = stream.nextRecord()); ) streamed.see(record);
if (!stream.done()) fail("the peer does not find the end of the file");
streamed.done("from front to back");

const readable = { size: async () => BigInt(bytes.length), read: async (offset, size) => new Uint8Array(bytes.buffer, bytes.byteOffset + Number(offset), Number(size)) };
const reader = await McapIndexedReader.Initialize({ readable, decompressHandlers });
if (reader.header.profile !== "ros2") fail(`profile ${reader.header.profile}`);
const indexed = new Decoder();
indexed.schemas = reader.schemasById;
indexed.channels = reader.channelsById;
for await (const message of reader.readMessages()) indexed.message(message);
indexed.done("by the index");
if (Number(reader.statistics.messageCount) !== expected.length) fail(`statistics: ${reader.statistics.messageCount} messages`);
if (indexed.rewritten < expected.length / 3) fail(`only ${indexed.rewritten} of ${expected.length} messages were written again`);
console.log(
  `${process.argv[2]}: ${expected.length} messages of ${reader.schemasById.size} types read by @mcap/core and rosmsg2-serialization, ` +
    `${indexed.rewritten} written again byte for byte`,
);
