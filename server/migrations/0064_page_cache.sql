-- Whether the edge keeps pages of the site (decision 68). The edge is told of a change as it is of
-- a changed host name.
alter table site add column page_cache boolean not null default true;

create trigger site_page_cache_changed after update of page_cache on site
  for each row when (old.page_cache is distinct from new.page_cache)
  execute function note_site();
