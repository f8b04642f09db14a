-- no-transaction
-- Commands are dropped by their age, whichever server's they were.
create index concurrently if not exists site_command_began on site_command (began_at);
