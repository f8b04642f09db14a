-- Certificates of host names, and what the authorities that issue them know us by.

-- One row a name that should have a certificate. A name that needs none any more has no row, and
-- its key is forgotten with it.
create table certificate (
  id bigint generated always as identity primary key,
  -- A-labels, lower case; `*.` and a name for all names right below it.
  name text not null unique,
  -- Whose it is; null for the portal's own: its host, and the sites' domain.
  site_id uuid,
  created_at timestamptz not null,

  -- What was issued last; null until then. The key is sealed.
  key_sealed bytea,
  chain text,
  issuer text,
  not_before timestamptz,
  not_after timestamptz,
  -- Grows with every certificate of the name: what an edge has is compared by it.
  version bigint not null default 0,
  -- The directory of the authority that issued it.
  directory text,
  renew_at timestamptz,

  -- When something is to be done about it: order, renew, or ask whether to renew earlier.
  next_at timestamptz not null,
  -- Tries in a row that came to nothing, and why the last one did.
  attempts int not null default 0,
  problem text,
  problem_detail text,
  problem_at timestamptz,

  -- The order that is under way, so that a second run goes on with it.
  order_directory text,
  order_url text,
  order_key_sealed bytea
);
create index certificate_due on certificate (next_at);
create index certificate_of_site on certificate (site_id);

-- The account with each authority: made with a key of its own at the first order.
create table acme_account (
  directory text primary key,
  key_sealed bytea not null,
  -- Null until the authority has made it, and when it says that it does not know it any more.
  url text
);

-- Orders of the last days, for the authorities' limits. A renewal counts towards no domain.
create table acme_order (
  id bigint generated always as identity primary key,
  directory text not null,
  domain text not null,
  is_renewal boolean not null,
  at timestamptz not null
);
create index acme_order_lately on acme_order (directory, at);
create index acme_order_of_domain on acme_order (domain, at) where not is_renewal;
create index acme_order_at on acme_order (at);

-- What the owner of a site chose about HTTPS.
create table site_https (
  site_id uuid primary key,
  -- Browsers that have come by HTTPS once are told to come by it alone.
  https_only boolean not null,
  changed_at timestamptz not null
);

-- TXT records by which an authority sees that a name's zone is here (RFC 8555, 8.4). They are
-- served beside the customer's records, and belong to no change that a customer sees or undoes. One
-- that was dropped stays for a day: a name server that is behind still has to take it out.
create table dns_challenge (
  id bigint generated always as identity primary key,
  zone_id uuid not null references dns_zone (id),
  -- Relative to the domain, as in dns_record.
  name text not null,
  value text not null,
  created_at timestamptz not null,
  -- The zone's serial with which it came, and with which it went.
  put_serial bigint not null,
  dropped_serial bigint,
  unique (zone_id, name, value)
);
create index dns_challenge_age on dns_challenge (created_at);
