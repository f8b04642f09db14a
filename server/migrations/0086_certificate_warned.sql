-- Which warning the owner of a name has had because its certificate is not renewed: 0 none, 1 that
-- it fails, 2 that it ends soon, 3 that it has ended.
alter table certificate add column warned smallint not null default 0;
