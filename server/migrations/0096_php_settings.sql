-- What a server's owner has set of PHP; what is not in it is as the platform has it.
alter table site add column php_settings jsonb not null default '{}'::jsonb;
