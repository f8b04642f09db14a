/** The owner's PHP settings, on every WordPress driver. */
import { expect, test } from 'vitest'
import { ask, type Site } from './site.conformance.ts'

export function followsPhpSettings({ spec, made }: Site): void {
  test('takes bodies as large as its owner has set, and changes that without a gap', async () => {
    const { driver } = made()
    const send = async (mb: number): Promise<number> => {
      const [to] = await driver.addresses(spec.id)
      const body = Buffer.alloc(mb * 1_048_576)
      return (await ask(to!, `${spec.url}/`, { method: 'POST', body })).status
    }
    const usual = { uploadMb: 64, pageSeconds: 60, inputVars: 5_000, debug: false }
    expect(await send(9)).toBe(200)
    await driver.start({ ...spec, php: { ...usual, uploadMb: 8 } })
    expect(await send(9)).toBe(413)
    expect(await send(7)).toBe(200)
    // The same settings again replace nothing.
    const [before] = await driver.addresses(spec.id)
    await driver.start({ ...spec, php: { ...usual, uploadMb: 8 } })
    expect(await driver.addresses(spec.id)).toEqual([before])
    await driver.start(spec)
    expect(await send(9)).toBe(200)
  })
}
