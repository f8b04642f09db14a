-- no-transaction
-- Letters and SMS in one state, newest first; the expression stands in server/messages/desk.ts.
create index concurrently if not exists message_desk on message ((case
    when sent_at is not null then 'sent'
    when sealed_text is not null then 'waiting'
    else 'failed' end), created_at desc, id desc);
