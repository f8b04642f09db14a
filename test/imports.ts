/** Files of customers, and their import by a member of the staff. */
import type { ActOutcome } from '../contract/operator-acts.ts'
import type { CustomerImport, ImportPreview } from '../contract/operator-imports.ts'
import { jobsIdle } from './idle-jobs.ts'
import type { TestPortal } from './portal.ts'
import type { TestMember } from './staff.ts'

export const importReason = 'Moved from WHMCS on 28 November'

export const previewFile = (by: TestMember, file: string, fileName = 'clients.csv') =>
  by.call<ImportPreview>('POST', '/api/operator/customer-imports/preview', { fileName, file })

export const importUpload = (by: TestMember, upload: string, letters: 'no' | 'yes' = 'no') =>
  by.act<ActOutcome>('customers.import', { upload, letters, reason: importReason })

export const importsOf = async (by: TestMember): Promise<CustomerImport[]> =>
  (await by.call<CustomerImport[]>('GET', '/api/operator/customer-imports')).body.result

/** Previews a good file, imports it and waits until that is done. */
export async function importFile(
  portal: TestPortal,
  by: TestMember,
  file: string,
  letters: 'no' | 'yes' = 'no',
): Promise<CustomerImport> {
  const { body, text } = await previewFile(by, file)
  if (!body.result?.upload) throw new Error(`the preview: ${text}`)
  const done = await importUpload(by, body.result.upload, letters)
  if (done.body.result?.state !== 'done') throw new Error(`the import: ${done.text}`)
  await jobsIdle(portal.app.db)
  const found = (await importsOf(by)).find(({ id }) => id === body.result.upload)
  if (!found) throw new Error('the import is not listed')
  return found
}

/** The id of the account with this e-mail address; undefined: there is none. */
export async function idOf(portal: TestPortal, email: string): Promise<string | undefined> {
  const row = await portal.app.db
    .selectFrom('customer')
    .select('id')
    .where('email', '=', email)
    .executeTakeFirst()
  return row?.id
}
