-- The catalogues that were in use: the newest version is what every process sells by, so that two
-- never price differently.
create table catalog_version (
  version int primary key generated always as identity,
  -- catalog.yaml as it was.
  text text not null,
  sha256 bytea not null,
  -- The installation whose start brought it: host name and data folder.
  origin text not null,
  at timestamptz not null default now()
);
