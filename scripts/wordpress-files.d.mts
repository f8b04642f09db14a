/** Where WordPress as it is before any site is kept. */
export declare const defaultFilesDir: string
/** The runtime's program. */
export declare const defaultRuntimeDir: string
/** Fetches and prepares what is missing of both, and the templates beside. */
export declare function ensureWordpress(options?: {
  dir?: string
  runtimeDir?: string
}): Promise<void>
