/** Acts that commands do and the desk only shows in the trail (decision 141). */
export const enShellActs = {
  names: {
    'catalog.use': 'Use a file as the catalogue',
    'node.add': 'Add a node',
    'node.key': 'Show the key of a node',
    'node.drain': 'Empty a node',
    'node.activate': 'Let a node take servers again',
    'node.remove': 'Remove a node',
    'mail.suspend': 'Suspend email of a server',
    'mail.resume': 'Resume email of a server',
  },
  facts: {
    mailSuspended: 'Why email is suspended',
    note: 'Note',
    origin: 'File of',
    address: 'Address',
    edge: 'Address of its edge',
    regions: 'Data centres',
    nodeState: 'Node is',
    empties: 'Its servers move away',
  },
}
