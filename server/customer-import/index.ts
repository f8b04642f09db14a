/** Customers that are brought over from another panel, by a file (decision 157). */
export {
  dropOldUploads,
  findByReference,
  forgetImported,
  importOfCustomer,
  listImports,
  noteCame,
} from './desk.ts'
export { judgeImport, keepUpload, type Judged, type Sum } from './preview.ts'
export { askLetters, judgeUpload, lettersDue, startImport } from './start.ts'
export { defineImports } from './work.ts'
