/** Acts that commands do and the desk only shows in the trail (decision 141). */
export const enShellActs = {
  names: {
    'catalog.use': 'Use a file as the catalogue',
    'node.add': 'Node written down',
    'node.key': 'Key of a node shown',
    'node.drain': 'Empty a node',
    'node.activate': 'Node takes servers again',
    'node.remove': 'Forget a node',
    'mail.suspend': 'Suspend email of a server',
    'mail.resume': 'Resume email of a server',
  },
  facts: {
    mailSuspended: 'Email suspended for',
    note: 'Note',
    origin: 'File of',
    address: 'Address',
    edge: 'Address of its edge',
    regions: 'Data centres',
    nodeState: 'Node is',
    empties: 'Its servers move away',
  },
}
