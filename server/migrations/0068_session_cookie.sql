-- A session may be held by a cookie beside its token. `remembered`: it goes on for as long as it
-- may live; its token, which a script can read, still ends after twelve idle hours
-- (`token_expires_at`; null: with the session).
alter table session
  add column cookie_hash bytea,
  add column remembered boolean not null default false,
  add column token_expires_at timestamptz;
