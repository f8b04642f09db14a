/** Prints the twenty slowest test files of a run, to show where time goes. */
import type { Reporter, TestModule } from 'vitest/node'

const shown = 20

export default class Slowest implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    if (modules.length <= shown) return
    const timed = modules
      .map((module) => {
        const { collectDuration, duration } = module.diagnostic()
        const { processorSeconds = 0 } = module.meta()
        const seconds = (collectDuration + duration) / 1000
        return { file: module.relativeModuleId, seconds, processorSeconds }
      })
      .toSorted((a, b) => b.seconds - a.seconds)
    const all = timed.reduce((sum, { seconds }) => sum + seconds, 0)
    const computed = timed.reduce((sum, { processorSeconds }) => sum + processorSeconds, 0)
    const inColumn = (value: number): string => `${value.toFixed(1).padStart(7)} s`
    const lines = timed
      .slice(0, shown)
      .map((of) => `${inColumn(of.seconds)} ${inColumn(of.processorSeconds)}  ${of.file}`)
    process.stdout.write(
      `\nThe ${shown} slowest of ${timed.length} files (${all.toFixed(0)} s in all), and what ` +
        `they take of the processors (${computed.toFixed(0)} s in all):\n${lines.join('\n')}\n`,
    )
  }
}
