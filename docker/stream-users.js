// Makes the user that OneHop's change streams (onehop-streams) need, with the least rights, on the config servers and on
// every shard, and the roles that it has there.
//
//   mongosh "mongodb://admin@mongos:27017/?authSource=admin" --file docker/stream-users.js
//
// The URI names a mongos or the config servers' primary. Taken from environment variables:
//   ONEHOP_USER, ONEHOP_PASSWORD    the user to make; asks for a password that is not set
//   ONEHOP_AUTH_DATABASE            where it belongs, admin unless set; $external for X.509, without a password
//   ONEHOP_WATCH                    what it watches, comma-separated: shop.orders for a collection, shop for a database,
//                                   * for the whole cluster
//   ONEHOP_HEARTBEATS               no: without appendOplogNote and getShardMap. Events then wait longer for idle shards
//   ONEHOP_LOOKUPS                  yes: with fullDocument UPDATE_LOOKUP, which reads over a mongos
//   ONEHOP_SHARD_ADMIN, ONEHOP_SHARD_ADMIN_PASSWORD   who may make users and roles on the shards: a cluster's users live
//                                   on its config servers only, so each shard needs an administrator of its own, made
//                                   once over the localhost exception
//   ONEHOP_SHARD_OPTIONS            options of the shards' URIs, such as tls=true&tlsCAFile=/etc/ssl/ca.pem
//
// Running it again changes the password and the rights.

const need = name => {
  const value = process.env[name];
  if (!value) throw new Error('set ' + name);
  return value;
};
const password = (name, of) => {
  if (process.env[name]) return process.env[name];
  print('password of ' + of + ':');
  return passwordPrompt();
};

const user = need('ONEHOP_USER');
const authDatabase = process.env.ONEHOP_AUTH_DATABASE || 'admin';
const heartbeats = process.env.ONEHOP_HEARTBEATS !== 'no';
const lookups = process.env.ONEHOP_LOOKUPS === 'yes';
const shardAdmin = need('ONEHOP_SHARD_ADMIN');
const role = 'onehop-streams of ' + user;
const watched = need('ONEHOP_WATCH').split(',').map(each => {
  const name = each.trim();
  const dot = name.indexOf('.');
  if (name === '*') return {db: '', collection: ''};
  return dot < 0 ? {db: name, collection: ''} : {db: name.substring(0, dot), collection: name.substring(dot + 1)};
});
const may = (actions, resources) => resources.map(resource => ({resource, actions}));

const hello = db.adminCommand({hello: 1});
if (hello.msg !== 'isdbgrid' && !hello.configsvr) throw new Error('this is neither a mongos nor a config server');

const credential = authDatabase === '$external' ? {} : {pwd: password('ONEHOP_PASSWORD', user)};
const shardAdminPassword = password('ONEHOP_SHARD_ADMIN_PASSWORD', shardAdmin + ' on the shards');

function makeUser(connection, privileges, roles) {
  const admin = connection.getDB('admin');
  if (admin.getRole(role)) {
    admin.updateRole(role, {privileges, roles: []});
  } else {
    admin.createRole({role, privileges, roles: []});
  }
  const database = connection.getDB(authDatabase);
  const all = [{role, db: 'admin'}, ...roles];
  if (database.getUser(user)) {
    database.updateUser(user, {...credential, roles: all});
  } else {
    database.createUser({user, ...credential, roles: all});
  }
}

// Reading where data is placed.
makeUser(db.getMongo(), [
  ...may(['find'], ['collections', 'chunks', 'databases', 'shards'].map(collection => ({db: 'config', collection}))),
  // Which shards were removed since a place.
  ...may(['find', 'changeStream'], [{db: 'config', collection: 'changelog'}]),
  ...(heartbeats ? may(['appendOplogNote'], [{cluster: true}]) : []),
  ...(lookups ? may(['find'], watched) : [])], []);
print('config servers: ' + user + ' is there');

for (const shard of db.getSiblingDB('config').shards.find().toArray()) {
  const [set, hosts] = shard.host.split('/');
  const uri = 'mongodb://' + encodeURIComponent(shardAdmin) + ':' + encodeURIComponent(shardAdminPassword) + '@' +
    hosts + '/?replicaSet=' + set + '&authSource=admin' +
    (process.env.ONEHOP_SHARD_OPTIONS ? '&' + process.env.ONEHOP_SHARD_OPTIONS : '');
  const connection = Mongo(uri);
  const major = Number(connection.getDB('admin').runCommand({buildInfo: 1}).versionArray[0]);
  makeUser(connection, [
    ...may(['find', 'changeStream'], watched),
    // How far back the oplog goes, for what a shard has lost.
    ...may(['find'], [{db: 'local', collection: 'oplog.rs'}]),
    ...(heartbeats ? may(['appendOplogNote', 'getShardMap'], [{cluster: true}]) : [])],
    // From 8.0 a shard refuses who comes without a mongos and does not have this role.
    major >= 8 ? [{role: 'directShardOperations', db: 'admin'}] : []);
  print(shard._id + ': ' + user + ' is there' + (major >= 8 ? ', with directShardOperations' : ''));
}
