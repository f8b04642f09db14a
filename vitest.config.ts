import { defineConfig } from 'vitest/config'
import LongestFirst from './test/longest-first.ts'

export default defineConfig({
  test: {
    include: ['{contract,server,sandbox,web,test,scripts}/**/*.test.{ts,tsx}'],
    globalSetup: ['test/cluster.ts'],
    setupFiles: ['test/each-file.ts'],
    pool: 'forks',
    // WordPress in WebAssembly: only what runs of it is checked and compiled, once and quickly. A
    // quarter less of processor for sites that live seconds. The containers take the flags over.
    execArgv: ['--liftoff-only', '--wasm-lazy-validation'],
    // The portal's code is plain TypeScript that Node runs as it is. A worker loads it once for all
    // of its files, and Vite transforms none of it.
    isolate: false,
    experimental: { viteModuleRunner: false },
    // Two cores: others run while one waits for its portal, sandbox or site. With a fourth worker a
    // run is a few minutes shorter, and tests that measure time fail now and then.
    maxWorkers: 3,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // What is asked for again and again until it holds may take its time on a busy machine.
    expect: { poll: { timeout: 20_000 } },
    sequence: { sequencer: LongestFirst },
    reporters: ['default', './test/slowest.ts'],
    env: { LOG_LEVEL: 'silent' },
  },
})
