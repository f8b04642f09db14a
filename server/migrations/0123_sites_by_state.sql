-- no-transaction
-- Servers in one state, newest first; the expression stands in server/wordpress/desk-list.ts.
create index concurrently if not exists site_desk on site ((case
    when deleted_at is not null then case when running_at is null then 'lapsed' else 'gone' end
    when status = 'running' and down_since is not null then 'down'
    else status end), seq desc);
