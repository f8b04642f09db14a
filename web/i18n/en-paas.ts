export const enPaas = {
  paas: {
    title: 'Platform services',
    sub: 'Web services that are built from a repository.',
    create: 'Create Project',
    sample: 'Sample',
    sampleNote:
      'These rows are samples that show what this page will hold; one stands for each of your ' +
      'WordPress servers.',
    empty: 'No services yet.',
    name: 'Name',
    status: 'Status',
    type: 'Type',
    environment: 'Environment',
    region: 'Region',
    deployed: 'Last Deployed',
    row: {
      name: 'Docker web service',
      status: 'Deployed Success',
      type: 'Web Service',
      environment: 'Docker',
      region: 'Singapore',
      deployed: '2 days ago',
    },
    of: (server: string) => `beside ${server}`,
    later: {
      title: 'Not open yet',
      text: (host: string) =>
        `Repositories of ${host} cannot be connected yet. Nothing was connected, created or ` +
        'charged.',
      anyHost: 'Git hosts',
    },
  },
  project: {
    title: 'Create Project',
    sub: 'A project groups the services that belong together.',
    name: 'Project Name',
    hint: "Lowercase letters, numbers and '-' only.",
    placeholder: 'ex: project-demo',
    invalid:
      "Use 1 to 63 lowercase letters, numbers and '-', and begin and end with a letter or a " +
      'number.',
    create: 'Create Project',
    connect: 'Connect a repository',
    connectText: 'Every push to its main branch becomes a new version of your service.',
    github: 'Connect Github',
    gitlab: 'Connect Gitlab',
  },
  service: {
    title: 'Create new Web Service',
    sub: 'Connect a git repository, or use the address of a public one.',
    project: (name: string) => `Project: ${name}`,
    connect: 'Connect a repository',
    repository: 'demo / docker-web-service',
    updated: 'Updated 2 days ago',
    connectOne: 'Connect',
    connectOf: (name: string) => `Connect ${name}`,
    public: 'Public Git repository',
    publicText: 'Use a public repository by its address.',
    address: 'Repository address',
    addressInvalid: 'Enter an address that begins with https:// and names a repository.',
    go: 'Continue',
    configure: 'Configure Account',
    connectAccount: 'Connect Account',
    configureOf: (host: string) => `Configure Account: ${host}`,
    connectAccountOf: (host: string) => `Connect Account: ${host}`,
    hostText: (host: string) => `Repositories that ${host} lets us see appear on the left.`,
  },
}
