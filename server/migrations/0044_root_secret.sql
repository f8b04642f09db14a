-- What all secrets are derived from, sealed with the operator's PORTAL_SECRET: one row. The fingerprint
-- tells which secret it was sealed with, without telling it.
create table root_secret (
  one boolean primary key default true check (one),
  sealed bytea not null,
  fingerprint text not null
);
