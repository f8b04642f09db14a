/** English: the dialogs of domains and their records. */
import { plural } from './plural.ts'

export const enDnsParts = {
  domain: {
    activateNote: 'The update can take up to 24 hours. We look again by ourselves and tell you.',
    activateText:
      'At your registrar, replace the name servers of the domain with exactly these two:',
    activateTitle: (name: string) => `Activate ${name}`,
    check: 'Check',
    checkFailed: 'The domain name is not pointing correctly',
    checked: 'Add domain success !',
    found: 'Found at the parent zone',
    foundNothing: 'No name servers were found.',
    lastLooked: (at: string) => `Last looked at ${at}`,
    addFailed: 'Fail to add domain!',
    added: 'Add domain success !',
    createText:
      'Enter a domain that you own. You keep it at your registrar and only change its name ' +
      'servers.',
    placeholder: 'example.vn',
    deleteFailed: 'Fail to delete domain!',
    deleted: 'Delete domain success !',
    sure: (name: string) => `Are you sure you want to delete the domain ${name}?`,
    sureMore: 'Its records are deleted with it. Added again, it gets other name servers.',
    warning: 'Warning',
  },
  zone: {
    importTitle: 'Import a zone file',
    importText: 'In BIND format. Review the changes before applying them.',
    file: 'Choose a file',
    content: 'Zone file',
    mode: 'Records that you have already',
    merge: 'Keep all',
    sets: 'Replace same name and type',
    replace: 'Delete all',
    modeHints: {
      merge: 'Adds what is in the file. Nothing is deleted.',
      sets: 'Records of a name and type that the file has become what the file says. Others stay.',
      replace: 'Only what is in the file is left.',
    },
    preview: 'Preview',
    apply: (count: number) => `Apply ${plural(count, 'change', 'changes')}`,
    nothing: 'The file changes nothing.',
    added: 'Added',
    changed: 'Changed',
    removed: 'Deleted',
    unchanged: (count: number) => `${plural(count, 'record stays', 'records stay')} as they are.`,
    adjusted: (count: number) =>
      count === 1
        ? 'One TTL is not kept as the file has it'
        : `${count} TTLs are not kept as the file has them`,
    skipped: (lines: string) => `Lines left out, because our name servers write them: ${lines}.`,
    moreRows: (count: number) => `and ${count} more`,
    applied: 'The zone file is imported.',
    failed: 'The zone file was not imported.',
    tooLarge: 'The file is larger than 1 MB.',
  },
  point: {
    title: 'Point at a WordPress server',
    text: 'The domain and its www are pointed at the server, and the server answers on both.',
    server: 'Server',
    none: 'You have no running server.',
    confirm: 'Point it there',
    done: (name: string) => `The domain points at ${name}.`,
    failed: 'The domain could not be pointed there.',
    preview: 'These records change',
    unchanged: 'The domain points at this server already. Nothing changes.',
  },
  history: {
    title: 'History',
    empty: 'Nothing was changed yet.',
    actions: {
      add: 'Added',
      edit: 'Edited',
      delete: 'Deleted',
      import: 'Imported',
      point: 'Pointed at a server',
      undo: 'Undone',
    },
    by: (who: string, at: string) => `${who}, ${at}`,
    undone: 'Undone',
    undoOf: (what: string) => `Undo: ${what}`,
  },
}
