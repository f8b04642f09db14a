-- Letters that come back after they were sent, and whose certificates are.

-- When a report said that it did not arrive, after our mail server had passed it on.
alter table site_mail add column returned_at timestamptz;

-- Addresses that a site sends nothing to for now, because a letter came back from them.
create table site_mail_suppressed (
  site_id uuid not null,
  -- Lower case.
  recipient text not null,
  until timestamptz not null,
  primary key (site_id, recipient)
);
create index site_mail_suppressed_until on site_mail_suppressed (until);

-- Whose the name is, so that customers take turns; null for the portal's own, and until the names
-- are compared next.
alter table certificate add column customer_id uuid;
alter table acme_order add column customer_id uuid;
