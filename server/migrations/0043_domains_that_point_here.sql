-- Whether a name that is proven also leads to the site: one proven by TXT alone may not yet. Null: not looked at since.
alter table site_domain add column pointed boolean;
