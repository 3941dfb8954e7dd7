// Makes the user that OneHop's direct mode needs, on the config servers (by way of a mongos) and on every shard.
//
//   mongosh "mongodb://admin@mongos:27017/?authSource=admin" --file docker/direct-users.js
//
// Asks for what it is not told by environment variables:
//   ONEHOP_USER, ONEHOP_PASSWORD    the user to make
//   ONEHOP_DATABASES                what it may read and write, comma-separated
//   ONEHOP_SHARD_ADMIN, ONEHOP_SHARD_ADMIN_PASSWORD   who may make users on the shards: a cluster's users live on its
//                                   config servers only, so each shard needs an administrator of its own
//
// Running it again changes the password and the roles.

const env = (name, ask) => process.env[name] || (ask ? passwordPrompt() : undefined);
const need = name => {
  const value = process.env[name];
  if (!value) throw new Error('set ' + name);
  return value;
};

const user = need('ONEHOP_USER');
print('password of ' + user + ', unless ONEHOP_PASSWORD has it:');
const pwd = env('ONEHOP_PASSWORD', true);
const databases = need('ONEHOP_DATABASES').split(',');
const data = databases.map(name => ({role: 'readWrite', db: name.trim()}));

function makeUser(admin, roles) {
  if (admin.getUser(user)) {
    admin.updateUser(user, {pwd, roles});
  } else {
    admin.createUser({user, pwd, roles});
  }
}

const hello = db.adminCommand({hello: 1});
if (hello.msg !== 'isdbgrid') throw new Error('this is no mongos');

// Reading the routing tables, the default read and write concern, and the data for what is handed to a mongos.
makeUser(db.getSiblingDB('admin'), [
  ...data, {role: 'read', db: 'config'}, {role: 'clusterMonitor', db: 'admin'}]);
print('config servers: ' + user + ' is there');

const shardAdmin = need('ONEHOP_SHARD_ADMIN');
print('password of ' + shardAdmin + ' on the shards, unless ONEHOP_SHARD_ADMIN_PASSWORD has it:');
const shardAdminPassword = env('ONEHOP_SHARD_ADMIN_PASSWORD', true);

for (const shard of db.getSiblingDB('config').shards.find().toArray()) {
  const [set, hosts] = shard.host.split('/');
  const uri = 'mongodb://' + encodeURIComponent(shardAdmin) + ':' + encodeURIComponent(shardAdminPassword) + '@' +
    hosts + '/?replicaSet=' + set + '&authSource=admin';
  const admin = Mongo(uri).getDB('admin');
  const major = Number(admin.runCommand({buildInfo: 1}).versionArray[0]);
  // From 8.0 a shard refuses who comes without a mongos and does not have this role.
  const roles = major >= 8 ? [...data, {role: 'directShardOperations', db: 'admin'}] : data;
  makeUser(admin, roles);
  print(shard._id + ': ' + user + ' is there' + (major >= 8 ? ', with directShardOperations' : ''));
}
