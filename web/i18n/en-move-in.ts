/** English: a website of another host, moved into a server. */
import { plural } from './plural.ts'

export const enMoveIn = {
  moveIn: {
    title: 'Move a website in',
    about:
      'Bring a WordPress website from another host. We build a copy beside this server, compare ' +
      'its pages with the original, and you decide when to switch over.',
    closed: 'You can move a website in once the server is running.',
    files: 'Files of the website',
    filesHint:
      'Choose the package of a plugin, or wp-content and the database dump, together or as ' +
      'separate files.',
    choose: 'Choose files',
    chosen: (count: number, size: string) => `${plural(count, 'file', 'files')}, ${size}`,
    drop: 'Or drop them here',
    reads: 'What can be moved in',
    readsList: [
      'Backups downloaded from this portal, or from another one of the same kind',
      'A zip or tar.gz with wp-content, and a dump of MySQL or MariaDB (.sql or .sql.gz)',
      'UpdraftPlus: the database and all zips of one backup',
      'Duplicator: the archive as a zip',
      'All-in-One WP Migration: .wpress',
    ],
    readsNot:
      'Not readable: encrypted packages, Duplicator’s .daf, rar and 7z, and networks of ' +
      'several sites (multisite).',
    origin: 'Address of the website today',
    optional: 'optional',
    originHint: 'For the comparison. Without it we use the address that the website has stored.',
    upload: 'Upload',
    uploading: 'Uploading',
    uploaded: (done: string, total: string) => `${done} of ${total}`,
    keepOpen: 'Keep this page open. If the connection drops, the upload continues by itself.',
    goOn: (done: string, total: string) => `${done} of ${total} has arrived`,
    goOnHint: 'Choose the same files again, and the upload continues where it stopped.',
    otherFiles: 'These are not the files that this upload began with.',
    waiting: 'No connection. Trying again…',
    cancel: 'Cancel',
    cancelTitle: 'Cancel this move?',
    cancelText: 'What was uploaded is deleted. The server stays as it is.',
    failedUpload: 'The upload stopped.',
    steps: {
      unpack: 'Checking and unpacking the files',
      database: 'Loading the database',
      upgrade: 'Preparing WordPress',
      addresses: 'Rewriting addresses',
      compare: 'Comparing pages',
    },
    building: 'Building the copy',
    buildingHint: 'You can leave this page. Your visitors notice nothing.',
    ready: 'The copy is ready',
    readyHint: (time: string) =>
      `Nothing has changed on the server yet. The copy is kept until ${time}, and counts towards ` +
      'the disks of the server.',
    maker: 'Recognised as',
    makers: {
      portal: 'Backup of this portal',
      updraftplus: 'UpdraftPlus backup',
      duplicator: 'Duplicator package',
      'all-in-one': 'All-in-One WP Migration package',
      files: 'Files and a database dump',
    },
    home: 'Original address',
    version: 'WordPress of the original',
    holds: 'Content',
    counts: (files: number, size: string, tables: number, rows: number) =>
      `${plural(files, 'file', 'files')} (${size}), ${plural(tables, 'table', 'tables')}, ` +
      plural(rows, 'row', 'rows'),
    admins: 'Administrators',
    adminsHint: 'Their passwords stay those of the original.',
    noAdmins: 'None: nobody can sign in to wp-admin but by the button above.',
    notes: 'Good to know',
    note: {
      links_left_out: (detail: string) => `${detail} links were left out: only files are moved in.`,
      names_odd: (detail: string) => `${detail} file names could not be read exactly.`,
      dropins_left_out: (detail: string) =>
        `Left out, as they belong to the former host: ${detail}.`,
      root_left_out: (detail: string) => `Programs beside WordPress were left out: ${detail}.`,
      statements_left_out: (detail: string) =>
        `Parts of the database dump that WordPress does not need were left out: ${detail}.`,
      tables_left_out: (detail: string) => `Tables of other programs were left out: ${detail}.`,
      rows_left_out: (detail: string) => `${detail} rows of the database could not be read.`,
      rows_changed: (detail: string) => `${detail} values were adjusted to fit their column.`,
      plugins_missing: (detail: string) =>
        `These plugins are switched on, but are not among the files: ${detail}.`,
      theme_missing: (detail: string) => `The theme ${detail} is not among the files.`,
    } as Record<string, (detail: string) => string>,
    problem: {
      unknown_format: () => 'We do not know this kind of file. See above what can be moved in.',
      damaged: (detail: string) => `The package is damaged${detail === '' ? '' : `: ${detail}`}.`,
      encrypted: () => 'The package is encrypted. Make one without a password.',
      leads_outside: (detail: string) =>
        `The package holds a name that leads out of the website: ${detail}. It was refused.`,
      name_too_long: (detail: string) => `A file name is too long: ${detail}`,
      too_large: () =>
        'The disks of this server have no room for the website beside what they hold now. Add ' +
        'disk space first.',
      bomb: (detail: string) => `A file unpacks to far more than a website needs: ${detail}`,
      too_many_files: () => 'The package holds more than 200,000 files.',
      no_content: () =>
        'There is no wp-content among the files. Add it, with themes, plugins and uploads.',
      no_database: () => 'There is no database among the files. Add the dump (.sql or .sql.gz).',
      no_tables: () => 'The database dump does not hold the tables of a WordPress website.',
      several_sites: (detail: string) =>
        `The database holds several websites (${detail}). Make a dump of one of them.`,
      multisite: () => 'This is a network of several sites (multisite), which cannot be moved in.',
      statement_too_long: () => 'The database dump holds a statement that is too long.',
      database_refused: (detail: string) => `The database could not be loaded: ${detail}`,
      not_answering: () => 'The copy could not be built. Please try again later.',
      backup_failed: () =>
        'The server could not be backed up first, so nothing was switched. Please try again.',
      switch_failed: () => 'The switch did not succeed. The server is as it was.',
    } as Record<string, (detail: string) => string>,
    failed: 'The website was not moved in',
    unchanged: 'The server is as it was.',
    pages: 'Pages compared',
    pagesHint: (same: number, all: number) => `${same} of ${all} pages are the same.`,
    unreachable:
      'The original could not be reached, so there is nothing to compare. You can switch over ' +
      'all the same.',
    page: 'Page',
    original: 'Original',
    copy: 'Copy',
    result: 'Result',
    none: 'no answer',
    verdict: {
      same: 'Same',
      status: 'Other status',
      title: 'Other title',
      text: 'Text differs',
      unknown: 'Not compared',
    },
    likeness: (percent: number) => `${percent}% of the text is the same`,
    switchOver: 'Switch over',
    discard: 'Discard',
    switchTitle: 'Switch over to the copy?',
    switchText: (name: string) =>
      `We back ${name} up, then its files and database become those of the copy. Orders, ` +
      'comments and posts that arrive here until then are in the backup only.',
    switching: 'Switching over',
    switchingHint: 'First the backup, then the switch. The server is away for some seconds.',
    done: 'The website has moved in',
    doneAt: (time: string) => `Switched over on ${time}.`,
    undo: 'Undo',
    undoUntil: (time: string) => `You can undo this until ${time}.`,
    undoTitle: 'Put the server back?',
    undoText: (name: string) =>
      `${name} becomes what it was before the switch. What was written since then is lost.`,
    undoBegun: 'The server is being put back.',
    undone:
      'The last move was undone: the server goes back to the backup from before it. The Backups ' +
      'tab shows when that is finished.',
    again: 'Move another website in',
    next: 'Next: sign in to wp-admin, look through it, and add your domain in the Domain tab.',
  },
}
