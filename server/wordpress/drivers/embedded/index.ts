// Runs WordPress sites as child processes: PHP in WebAssembly, with SQLite, without a container
// engine. See runtimes/wordpress-wasm/README.md.
import type { SiteRuntime } from '../../driver.ts'
import { createRuntime, type MachineParts } from '../machine/runtime.ts'

export type EmbeddedParts = Omit<MachineParts, 'engine'>

/** The embedded driver. Creating it starts no process and touches no site. */
export const createEmbedded = (parts: EmbeddedParts): SiteRuntime =>
  createRuntime({ ...parts, engine: null })
