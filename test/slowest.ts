/** Prints the twenty slowest test files of a run, so that nobody has to guess where time goes. */
import type { Reporter, TestModule } from 'vitest/node'

const shown = 20

export default class Slowest implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    if (modules.length <= shown) return
    const timed = modules
      .map((module) => {
        const { collectDuration, duration } = module.diagnostic()
        return { file: module.relativeModuleId, seconds: (collectDuration + duration) / 1000 }
      })
      .toSorted((a, b) => b.seconds - a.seconds)
    const all = timed.reduce((sum, { seconds }) => sum + seconds, 0)
    const lines = timed
      .slice(0, shown)
      .map(({ file, seconds }) => `${seconds.toFixed(1).padStart(7)} s  ${file}`)
    process.stdout.write(
      `\nThe ${shown} slowest of ${timed.length} files (${all.toFixed(0)} s in all):\n` +
        `${lines.join('\n')}\n`,
    )
  }
}
