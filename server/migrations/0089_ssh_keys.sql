-- Public keys that open the files of a server by SFTP.
create table site_ssh_key (
  id uuid primary key,
  site_id uuid not null references site (id) on delete cascade,
  name text not null,
  kind text not null,
  -- As SSH sends it (RFC 4253, section 6.6).
  public_key bytea not null,
  created_at timestamptz not null,
  used_at timestamptz,
  used_from text,
  unique (site_id, public_key)
);
