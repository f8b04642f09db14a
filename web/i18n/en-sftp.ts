/** The part of a server's files about SFTP. */
export const enSftp = {
  sftp: {
    title: 'SFTP',
    hint:
      'For many files at once, with a program such as FileZilla, Cyberduck or WinSCP. You sign ' +
      'in with an SSH key; there is no password.',
    off: 'Your provider does not offer SFTP here.',
    host: 'Host',
    port: 'Port',
    user: 'User name',
    fingerprint: 'Fingerprint of the server',
    fingerprintHint: 'Your program shows it at the first connection: it must be the same.',
    keys: 'Keys that open these files',
    keysHint: 'Whoever has one of these keys can read and change all files of this server.',
    noKeys: 'No key yet. Add the public key of your computer to connect.',
    add: 'Add key',
    addTitle: 'Add an SSH key',
    name: 'Name',
    nameHint: 'Such as the computer it is on.',
    key: 'Public key',
    keyHint: 'The one line of the .pub file. You have none? Run: ssh-keygen -t ed25519',
    added: (name: string) => `${name} can open the files now.`,
    remove: (name: string) => `Remove ${name}`,
    removeTitle: (name: string) => `Remove ${name}?`,
    removeText: 'Programs that use this key are disconnected within seconds.',
    removed: (name: string) => `${name} opens these files no more.`,
    usedAt: (when: string, from: string) => `Last used ${when} from ${from}`,
    neverUsed: (when: string) => `Added ${when}, not used yet`,
  },
}
