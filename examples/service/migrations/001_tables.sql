create table users (
	name text primary key,
	email text not null,
	quota bigint not null
);

create table files (
	id bigserial primary key,
	owner text not null references users,
	name text not null,
	size bigint not null,
	stored text not null,
	type text not null,
	sha256 text,
	unique (owner, name)
);

-- A new file is a job. Each change of a file is an event for its owner: "JSON OWNER".
create function announce_file() returns trigger language plpgsql as $$
begin
	if tg_op = 'INSERT' then
		insert into eddy_jobs (kind, payload, run_at) values ('checksum', to_json(new.id), now());
		perform pg_notify('eddy_jobs', '');
	end if;
	perform pg_notify('files', case when new.sha256 is null
		then format('{"id":%s,"state":"stored"} %s', new.id, new.owner)
		else format('{"id":%s,"sha256":"%s"} %s', new.id, new.sha256, new.owner) end);
	return null;
end $$;

create trigger announce after insert or update on files for each row execute function announce_file();
