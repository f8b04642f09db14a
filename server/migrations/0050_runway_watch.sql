-- When the sweep of runway warnings must look at the customer of a live subscription again. A new
-- one, also of an older release, is due at once.
alter table subscription add column watch_at timestamptz not null default 'epoch';
