-- What of the last nightly backup of the portal is watched, and since when a server runs again.

-- Servers of which the newest one, good or not, holds nothing.
alter table portal_backup add column sites_missing int not null default 0;
-- The id of the newest one that was found good, which no other one replaces; null: none yet, or one
-- of a release that did not write it down.
alter table portal_backup add column verified_backup text;

-- When it last came back from a suspension; null: it never did.
alter table site add column resumed_at timestamptz;
