-- When a customer's host name must be looked at again. One that an older release writes is due at
-- once.
alter table site_domain add column next_check_at timestamptz not null default 'epoch';
