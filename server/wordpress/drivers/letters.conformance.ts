// The tests of letters for every WordPress driver: letters that a site's pages send are handed
// over.
import { expect, test } from 'vitest'
import { eventually, type Site } from './site.conformance.ts'

const sendMail = `<?php // probe: mail
echo 'mail=', var_export( mail( $_GET['to'], $_GET['subject'] ?? '', $_GET['body'] ?? '',
	$_GET['headers'] ?? '', $_GET['parameters'] ?? '' ), true );
`

export function handsLettersOver(site: Site): void {
  const { spec, page } = site
  const driver = () => site.made().driver

  test('sends no letter where mail is off', async () => {
    await driver().start(spec)
    await site.made().put(spec.id, 'probe-mail.php', sendMail)
    expect((await page('/probe-mail.php?to=an@example.vn')).text).toBe('mail=false')
    expect(await driver().takeMail(spec.id, 10)).toEqual([])
  })

  test('hands letters over until they are taken, each under a key of its own', async () => {
    const withMail = { ...site.spec, mail: true }
    await driver().start(withMail)
    const send = async (query: Record<string, string>): Promise<string> =>
      (await page(`/probe-mail.php?${new URLSearchParams(query)}`)).text
    const headers = 'From: Shop <shop@example.vn>\r\nCc: b@example.vn\r\nBcc: c@example.vn'
    const parameters = '-fbounce@example.vn'
    const sent = { to: '"An, B" <an@example.vn>', subject: 'One', body: 'Xin chào', headers }
    expect(await send({ ...sent, parameters })).toBe('mail=true')
    expect(await send({ to: 'd@example.vn', subject: 'Two' })).toBe('mail=true')
    await eventually(async () => expect(await driver().sitesWithMail()).toEqual([spec.id]))

    const letters = await driver().takeMail(spec.id, 10)
    expect(letters.map(({ to }) => to)).toEqual([
      ['an@example.vn', 'b@example.vn', 'c@example.vn'],
      ['d@example.vn'],
    ])
    expect(letters.map(({ from }) => from)).toEqual(['bounce@example.vn', null])
    expect(letters[0]!.raw.toString()).toContain('Subject: One\r\n')
    expect(letters[0]!.raw.toString()).toMatch(/\r\n\r\nXin chào$/)
    expect(letters[0]!.at.getTime()).toBeLessThanOrEqual(Date.now())
    // Asked again, the driver answers the same letters, the oldest first.
    expect(await driver().takeMail(spec.id, 10)).toEqual(letters)
    expect(await driver().takeMail(spec.id, 1)).toEqual(letters.slice(0, 1))
    await driver().mailTaken(spec.id, [letters[0]!.key, '../../escape', 'no-such-key'])
    await driver().mailTaken(spec.id, [letters[0]!.key])
    expect(await driver().takeMail(spec.id, 10)).toEqual(letters.slice(1))
    // Letters outlive the containers.
    await driver().stop(spec.id)
    await driver().start(withMail)
    expect(await driver().takeMail(spec.id, 10)).toEqual(letters.slice(1))
    await driver().mailTaken(spec.id, [letters[1]!.key])
    expect(await driver().takeMail(spec.id, 10)).toEqual([])
    expect(await driver().sitesWithMail()).toEqual([])
  })

  test(
    'takes no letter that is none, and no more than may wait',
    { timeout: 240_000 },
    async () => {
      const send = async (query: Record<string, string>): Promise<string> =>
        (await page(`/probe-mail.php?${new URLSearchParams(query)}`)).text
      const to = 'an@example.vn'
      for (const wrong of [
        { to: '' },
        { to: 'nobody' },
        { to: 'an@example.vn, <x>' },
        { to, headers: 'X-A: 1\r\n\r\nand text' },
        { to: Array.from({ length: 51 }, (_, n) => `p${n}@example.vn`).join(',') },
      ])
        expect(await send(wrong)).toBe('mail=false')
      // Subject and recipient cannot add lines to the header.
      expect(await send({ to, subject: 'Hi\r\nBcc: spy@example.vn' })).toBe('mail=true')
      const [letter] = await driver().takeMail(spec.id, 10)
      expect(letter!.to).toEqual([to])
      expect(letter!.raw.toString()).toContain('Subject: Hi Bcc: spy@example.vn\r\n')
      let answer = 'mail=true'
      let taken = 1
      while (answer === 'mail=true' && taken < 200) {
        answer = await send({ to, subject: String(taken) })
        if (answer === 'mail=true') taken++
      }
      expect([answer, taken]).toEqual(['mail=false', 100])
      const all = await driver().takeMail(spec.id, 200)
      expect(all).toHaveLength(100)
      await driver().mailTaken(
        spec.id,
        all.map(({ key }) => key),
      )
      expect(await send({ to })).toBe('mail=true')
    },
  )
}
