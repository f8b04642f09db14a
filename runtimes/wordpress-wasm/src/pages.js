// Error pages of the container, in both languages, because the visitor's language is unknown.

const texts = {
  408: ['Your data did not arrive.', 'Dữ liệu của bạn không tới nơi.'],
  413: [
    'What you sent is too large. The limit is 64 MB.',
    'Dữ liệu bạn gửi quá lớn. Giới hạn là 64 MB.',
  ],
  429: [
    'Too many requests at once from your network. Try again in a few seconds.',
    'Quá nhiều yêu cầu cùng lúc từ mạng của bạn. Vui lòng thử lại sau vài giây.',
  ],
  502: [
    'This page ended before it was done. Try again.',
    'Trang này dừng trước khi hoàn tất. Vui lòng thử lại.',
  ],
  503: [
    'This site is very busy. Try again in a few seconds.',
    'Trang web đang quá tải. Vui lòng thử lại sau vài giây.',
  ],
  held: [
    'This site is being updated. Go back and send it again in a minute.',
    'Trang web đang được cập nhật. Vui lòng quay lại và gửi lại sau một phút.',
  ],
  504: [
    'This page took too long, so it was stopped. Try again later.',
    'Trang này chạy quá lâu nên đã bị dừng. Vui lòng thử lại sau.',
  ],
}

/** Answers with the page for a status; `held` is the 503 of a site that is being updated. */
export function showPage(request, response, what, headers = {}) {
  const [en, vi] = texts[what]
  const status = what === 'held' ? 503 : what
  const body = `<!doctype html><html lang="en"><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><title>${status}</title>
<body style="font:16px/1.5 system-ui,sans-serif;max-width:34rem;margin:15vh auto;padding:0 1rem">
<p>${en}</p>
<p lang="vi">${vi}</p>
`
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    ...headers,
  })
  response.end(request.method === 'HEAD' ? undefined : body)
  return { status, bytes: Buffer.byteLength(body) }
}
