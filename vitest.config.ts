import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['{contract,server,sandbox,web,test,scripts}/**/*.test.{ts,tsx}'],
    globalSetup: ['test/cluster.ts'],
    pool: 'forks',
    // Two cores: a third worker runs while another one waits for its portal, sandbox or site.
    maxWorkers: 3,
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // What is asked for again and again until it holds may take its time on a busy machine.
    expect: { poll: { timeout: 20_000 } },
    reporters: ['default', './test/slowest.ts'],
    env: { LOG_LEVEL: 'silent' },
  },
})
