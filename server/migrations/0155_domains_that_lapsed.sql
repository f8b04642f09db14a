-- Since when a domain that was active waits again. Null: since it was claimed. Its owner may renew
-- it after months, so the 28 days of checks by themselves count from here.
alter table dns_zone add column pending_since timestamptz;
-- Those that lapsed so far, of which no check was left: they wait from now on, and are not all
-- checked at once.
update dns_zone
set pending_since = now(), next_check_at = now() + random() * interval '12 hours'
where deleted_at is null and active_at is null and first_active_at is not null
  and next_check_at is null;
