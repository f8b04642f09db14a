// Must be evaluated before any module that imports Node's http is even linked. An ES import of http
// reads every one of its properties, and these three load Node's whole fetch client, which is not
// used here: that would cost a twentieth of a second of CPU time for each start.
const http = process.getBuiltinModule('node:http')
for (const name of ['WebSocket', 'CloseEvent', 'MessageEvent']) delete http[name]
