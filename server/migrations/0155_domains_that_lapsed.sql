-- Since when a domain that was active waits again. Null: since it was claimed. Its owner may renew
-- it after months, so the 28 days of checks by themselves count from here. Those that lapsed so far
-- are planned by the release that knows this column: one that does not would end their checks.
alter table dns_zone add column pending_since timestamptz;
