-- Letters that sites send: what their owners chose, what waits, what became of each, and the keys
-- that they are signed with.

-- Whether its PHP may send, as its owner chose; and whether it was stopped for what it sent.
alter table site add column mail_enabled boolean not null default true;
alter table site add column mail_suspended boolean not null default false;

create table site_mail_setting (
  site_id uuid primary key,
  -- The sender in the place of one that is not on the site's names; null: wordpress@ its own.
  sender text,
  suspended_at timestamptz,
  -- bounces, complaint, operator
  suspended_for text,
  -- What an operator wrote about it.
  suspended_note text,
  -- What was refused before does not count any more.
  resumed_at timestamptz,
  -- When the owner was last told that letters wait for the limit of an hour.
  limit_told_at timestamptz,
  -- When the next job for what waits falls due.
  wake_at timestamptz
);

-- A letter as PHP handed it over, once by the key that the node gave it.
create table site_letter (
  id bigint generated always as identity primary key,
  site_id uuid not null,
  key text not null,
  created_at timestamptz not null,
  from_address text not null,
  -- Whom the program had named, where that was none of the site's.
  named_from text,
  subject text not null,
  bytes int not null,
  message_id text not null,
  -- Header and text, sealed; null once no recipient waits for it.
  sealed bytea,
  unique (site_id, key)
);
create index site_letter_age on site_letter (created_at);

-- One recipient of a letter.
create table site_mail (
  id bigint generated always as identity primary key,
  letter_id bigint not null references site_letter (id) on delete cascade,
  site_id uuid not null,
  recipient text not null,
  -- held: mail of the site is suspended. bounced: refused for good by whoever was to take it.
  -- failed: tried for two days. refused: by the portal.
  state text not null check (state in ('waiting', 'held', 'sent', 'bounced', 'failed', 'refused')),
  -- Why it waits, or is not sent: a word of ours, or what the mail server said.
  why text,
  attempts int not null default 0,
  next_at timestamptz not null,
  -- A worker has it in hand until then.
  leased_until timestamptz,
  created_at timestamptz not null,
  -- When it was sent, or given up.
  settled_at timestamptz
);
create index site_mail_due on site_mail (site_id, next_at) where state = 'waiting';
create index site_mail_of_site on site_mail (site_id, id desc);
create index site_mail_settled on site_mail (site_id, settled_at desc)
  where settled_at is not null;
create index site_mail_of_letter on site_mail (letter_id);

-- The key that letters of a domain are signed with (DKIM). Without a site: of the sites' domain.
create table site_mail_key (
  id bigint generated always as identity primary key,
  site_id uuid,
  domain text not null,
  selector text not null,
  -- PEM, sealed.
  key_sealed bytea not null,
  -- SubjectPublicKeyInfo in Base64, as the record has it.
  public_key text not null,
  created_at timestamptz not null,
  unique nulls not distinct (site_id, domain)
);
