-- Who changed records for the account: the account of a member who worked in it, or the name of the
-- token that a program called with. Both null: the customer in person, or an earlier release.
alter table dns_change add column person_id uuid;
alter table dns_change add column token_name text;
-- An owner before the present one changed it, or somebody who worked for that one.
alter table dns_change add column by_former_owner boolean not null default false;
