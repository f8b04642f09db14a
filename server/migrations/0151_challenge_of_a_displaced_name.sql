-- The token by which a name was taken from another account: it is not the one that is given for a
-- name that nobody holds, and the name is looked at again by it. Null: any other name.
alter table site_domain add column challenge text;
