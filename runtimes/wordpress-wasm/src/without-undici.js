// To be evaluated before any module that imports Node's http is even linked. An ES import of it
// reads every one of its properties, and these three load Node's whole fetch client, which nobody
// here uses: a twentieth of a second of processor for each start.
const http = process.getBuiltinModule('node:http')
for (const name of ['WebSocket', 'CloseEvent', 'MessageEvent']) delete http[name]
