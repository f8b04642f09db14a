-- no-transaction
-- A cookie finds its session, and no two sessions have one cookie.
create unique index concurrently if not exists session_cookie on session (cookie_hash);
