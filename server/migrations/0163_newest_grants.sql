-- Of a session, only its newest grants are kept: a session could write any number of them, and all
-- of them have to be read when it is ended.
alter table channel_grant add column granted_at timestamptz not null default now();
