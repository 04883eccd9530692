// What a mirror over WebDAV costs at least, with the order of Larder's steps and nothing besides: rows, records that are
// durable before the first request, If-Match, lengths and ETags compared, SHA-256 of the bytes as they come, one sync for
// many files, digests in the journal, renames that replace nothing, rows completed. There are no policies, no checks of
// names and room, no recovery. Any surprise ends it.
//
//   limits mirror URL USER:PASSWORD VAULT          a first mirror; once more in the same vault, a re-check
//   limits put    URL USER:PASSWORD VAULT SOURCE   uploads SOURCE into the folder URL, which exists. It promises less than
//                                                  Larder: nothing keeps a copy of what is sent
#include <curl/curl.h>
#include <expat.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using std::string;
namespace fs = std::filesystem;

constexpr int pumps = 2, connections = 8, batch = 512;
constexpr int64_t inMemory = 65536;

static void check(bool isRight, const string &what) {
  if (isRight) return;
  fprintf(stderr, "limits: %s: %s\n", what.c_str(), strerror(errno));
  _exit(1);
}

static string login, root, rootPath;  // the root's address and path end with a slash
static int tree, incoming;

static string encoded(const string &path) {
  string text;
  for (unsigned char c : path) {
    char hex[4];
    if (isalnum(c) || strchr("-._~/", c)) text += char(c);
    else snprintf(hex, sizeof hex, "%%%02X", c), text += hex;
  }
  return text;
}

static string decoded(const string &text) {
  string path;
  for (size_t i = 0; i < text.size(); i++)
    if (text[i] == '%' && i + 2 < text.size()) path += char(strtol(text.substr(i + 1, 2).c_str(), nullptr, 16)), i += 2;
    else path += text[i];
  return path;
}

// ------------------------------------------------------------------------------------------------------ the database

struct Statement {
  sqlite3_stmt *made = nullptr;
  int next = 1;
  Statement &bind(int64_t value) { return sqlite3_bind_int64(made, next++, value), *this; }
  Statement &bind(const string &value) {
    return sqlite3_bind_text(made, next++, value.data(), int(value.size()), SQLITE_TRANSIENT), *this;
  }
  Statement &bind(const uint8_t *digest) { return sqlite3_bind_blob(made, next++, digest, 32, SQLITE_TRANSIENT), *this; }
  bool step() {
    int code = sqlite3_step(made);
    check(code == SQLITE_ROW || code == SQLITE_DONE, "a statement");
    return code == SQLITE_ROW;
  }
  void run() { step(), reset(); }
  void reset() { sqlite3_reset(made), next = 1; }
  string text(int column) {
    auto bytes = (const char *)sqlite3_column_text(made, column);
    return bytes ? string(bytes, size_t(sqlite3_column_bytes(made, column))) : string();
  }
  int64_t number(int column) { return sqlite3_column_int64(made, column); }
};

static sqlite3 *database;
static void sql(const char *text) { check(sqlite3_exec(database, text, nullptr, nullptr, nullptr) == SQLITE_OK, text); }
static Statement prepared(const char *text) {
  Statement statement;
  check(sqlite3_prepare_v3(database, text, -1, SQLITE_PREPARE_PERSISTENT, &statement.made, nullptr) == SQLITE_OK, text);
  return statement;
}

static void openVault(const string &vault) {
  for (auto name : {"", "/files", "/incoming"}) mkdir((vault + name).c_str(), 0700);
  tree = open((vault + "/files").c_str(), O_DIRECTORY | O_CLOEXEC);
  incoming = open((vault + "/incoming").c_str(), O_DIRECTORY | O_CLOEXEC);
  check(tree >= 0 && incoming >= 0, vault);
  check(sqlite3_open((vault + "/limits.db").c_str(), &database) == SQLITE_OK, "the database");
  sql("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
      "CREATE TABLE IF NOT EXISTS items (id INTEGER PRIMARY KEY, parent INTEGER, name TEXT, folder INTEGER, size INTEGER,"
      " etag TEXT, modified INTEGER, digest BLOB, UNIQUE (parent, name));"
      "CREATE TABLE IF NOT EXISTS records (id INTEGER PRIMARY KEY, item INTEGER, digest BLOB)");
}

// ------------------------------------------------------------------------------------------------------- the network

struct Entry {
  string path, etag;
  bool folder = false;
  int64_t size = 0, modified = 0;
};

// A multistatus as it arrives.
struct Multistatus {
  XML_Parser parser = XML_ParserCreateNS(nullptr, '|');
  std::vector<Entry> entries;
  string text;
  Multistatus() {
    XML_SetUserData(parser, this);
    XML_SetElementHandler(parser, begin, end);
    XML_SetCharacterDataHandler(parser, characters);
  }
  ~Multistatus() { XML_ParserFree(parser); }
  static void begin(void *context, const char *name, const char **) {
    auto self = (Multistatus *)context;
    self->text.clear();
    if (!strcmp(name, "DAV:|response")) self->entries.emplace_back();
    if (!strcmp(name, "DAV:|collection")) self->entries.back().folder = true;
  }
  static void characters(void *context, const char *bytes, int count) {
    ((Multistatus *)context)->text.append(bytes, size_t(count));
  }
  static void end(void *context, const char *name) {
    auto self = (Multistatus *)context;
    if (self->entries.empty()) return;
    auto &entry = self->entries.back();
    if (!strcmp(name, "DAV:|href")) {
      auto path = decoded(self->text);
      check(!path.compare(0, rootPath.size(), rootPath), "an address outside of the root: " + path);
      entry.path = path.substr(rootPath.size());
      while (!entry.path.empty() && entry.path.back() == '/') entry.path.pop_back();
    } else if (!strcmp(name, "DAV:|getetag")) entry.etag = self->text;
    else if (!strcmp(name, "DAV:|getcontentlength")) entry.size = atoll(self->text.c_str());
    else if (!strcmp(name, "DAV:|getlastmodified")) entry.modified = curl_getdate(self->text.c_str(), nullptr);
  }
};

enum Kind { list, get, put };

struct Job {
  Kind kind = list;
  string path, etag, bytes;
  int64_t item = 0, record = 0, size = 0, modified = 0;
  int source = -1;
  uint8_t digest[32];
  std::vector<Entry> entries;
};

// One request under way. Its handle is used again and again.
struct Transfer {
  CURL *easy = curl_easy_init();
  curl_slist *fields = nullptr;
  EVP_MD_CTX *hash = EVP_MD_CTX_new();
  Multistatus *document = nullptr;
  Job job;
  string etag;
  int file = -1;
  int64_t count = 0;

  static size_t take(char *bytes, size_t one, size_t count, void *context) {
    auto self = (Transfer *)context;
    if (self->document) {
      check(XML_Parse(self->document->parser, bytes, int(count), 0), "a listing of " + self->job.path);
    } else if (self->file >= 0) {
      check(write(self->file, bytes, count) == ssize_t(count), self->job.path);
      EVP_DigestUpdate(self->hash, bytes, count);
      self->count += int64_t(count);
    }
    return one * count;
  }
  static size_t head(char *bytes, size_t one, size_t count, void *context) {
    if (count > 6 && !strncasecmp(bytes, "etag: ", 6)) {
      auto &etag = ((Transfer *)context)->etag;
      etag.assign(bytes + 6, count - 6);
      while (!etag.empty() && strchr("\r\n ", etag.back())) etag.pop_back();
    }
    return one * count;
  }
  static size_t give(char *room, size_t one, size_t most, void *context) {
    auto self = (Transfer *)context;
    ssize_t count;
    if (self->job.source < 0) {
      count = std::min(int64_t(most), self->job.size - self->count);
      memcpy(room, self->job.bytes.data() + self->count, size_t(count));
    } else {
      count = read(self->job.source, room, most);
      check(count >= 0, self->job.path);
      EVP_DigestUpdate(self->hash, room, size_t(count));
    }
    self->count += count;
    return one * size_t(count);
  }

  void begin(CURLM *multi, Job next) {
    job = std::move(next);
    etag.clear(), count = 0;
    curl_easy_reset(easy);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, this);
    curl_easy_setopt(easy, CURLOPT_URL, (root + encoded(job.path) + (job.kind == list ? "/" : "")).c_str());
    curl_easy_setopt(easy, CURLOPT_USERPWD, login.c_str());
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take), curl_easy_setopt(easy, CURLOPT_WRITEDATA, this);
    curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, 262144L), curl_easy_setopt(easy, CURLOPT_UPLOAD_BUFFERSIZE, 262144L);
    EVP_DigestInit_ex(hash, EVP_sha256(), nullptr);
    if (job.kind == list) {
      document = new Multistatus;
      fields = curl_slist_append(curl_slist_append(nullptr, "Depth: 1"), "Content-Type: application/xml");
      curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, "PROPFIND");
      curl_easy_setopt(easy, CURLOPT_POSTFIELDS,
                       "<propfind xmlns=\"DAV:\"><prop><resourcetype/><getcontentlength/><getetag/><getlastmodified/>"
                       "</prop></propfind>");
    } else if (job.kind == get) {
      fields = curl_slist_append(nullptr, ("If-Match: " + job.etag).c_str());
      curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, head), curl_easy_setopt(easy, CURLOPT_HEADERDATA, this);
      file = openat(incoming, std::to_string(job.record).c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
      check(file >= 0, job.path);
    } else {
      fields = curl_slist_append(curl_slist_append(nullptr, "If-None-Match: *"), "Expect:");
      curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
      curl_easy_setopt(easy, CURLOPT_READFUNCTION, give), curl_easy_setopt(easy, CURLOPT_READDATA, this);
      curl_easy_setopt(easy, CURLOPT_INFILESIZE_LARGE, curl_off_t(job.size));
    }
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, fields);
    curl_multi_add_handle(multi, easy);
  }

  Job end(CURLM *multi, CURLcode code) {
    long status = 0;
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    curl_multi_remove_handle(multi, easy);
    check(code == CURLE_OK && status == (job.kind == list ? 207 : job.kind == get ? 200 : 201),
          job.path + ": " + curl_easy_strerror(code) + ", " + std::to_string(status));
    if (job.kind == list) {
      check(XML_Parse(document->parser, "", 0, 1), "a listing of " + job.path);
      job.entries = std::move(document->entries);
      delete document;
      document = nullptr;
    } else {
      check(count == job.size && (job.kind == put || etag == job.etag), "another content of " + job.path);
      if (job.kind == get || job.source >= 0) EVP_DigestFinal_ex(hash, job.digest, nullptr);
      if (file >= 0) {
        timespec times[2] = {{job.modified, 0}, {job.modified, 0}};
        check(futimens(file, times) == 0 && close(file) == 0, job.path);
      }
      if (job.source >= 0) close(job.source);
    }
    file = -1;
    curl_slist_free_all(fields);
    return std::move(job);
  }
};

// The threads that talk to the server. What is given to them comes back in any order.
struct Pumps {
  std::mutex lock;
  std::condition_variable done;
  std::deque<Job> waiting;
  std::vector<Job> results;
  size_t underWay = 0;
  bool isOver = false;
  std::vector<std::thread> threads;
  CURLM *multis[pumps];

  Pumps() {
    for (auto &multi : multis) {
      multi = curl_multi_init();
      threads.emplace_back([this, multi] { run(multi); });
    }
  }
  void stop() {
    { std::lock_guard held(lock); isOver = true; }
    for (auto multi : multis) curl_multi_wakeup(multi);
    for (auto &thread : threads) thread.join();
  }
  void give(std::vector<Job> jobs) {
    {
      std::lock_guard held(lock);
      underWay += jobs.size();
      for (auto &job : jobs) waiting.push_back(std::move(job));
    }
    for (auto multi : multis) curl_multi_wakeup(multi);
  }
  // Returns at least `count` results, or all that are under way.
  std::vector<Job> take(size_t count) {
    std::unique_lock held(lock);
    done.wait(held, [&] { return results.size() >= std::min(count, underWay); });
    underWay -= results.size();
    return std::exchange(results, {});
  }
  void run(CURLM *multi) {
    std::vector<Transfer> all(connections / pumps);
    std::vector<Transfer *> idle;
    for (auto &transfer : all) idle.push_back(&transfer);
    std::vector<Job> ended;
    while (true) {
      {
        std::lock_guard held(lock);
        if (isOver) return;
        while (!idle.empty() && !waiting.empty()) {
          idle.back()->begin(multi, std::move(waiting.front()));
          idle.pop_back(), waiting.pop_front();
        }
        if (ended.size() >= 64 || waiting.empty()) {
          for (auto &job : ended) results.push_back(std::move(job));
          ended.clear();
          done.notify_one();
        }
      }
      int running, left;
      curl_multi_perform(multi, &running);
      bool isReady = false;
      while (auto message = curl_multi_info_read(multi, &left)) {
        Transfer *transfer;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
        ended.push_back(transfer->end(multi, message->data.result));
        idle.push_back(transfer);
        isReady = true;
      }
      if (!isReady) curl_multi_poll(multi, nullptr, 0, 1000, nullptr);
    }
  }
};

// --------------------------------------------------------------------------------------------------------- the mirror

static void mirror(Pumps &network) {
  auto children = prepared("SELECT name, id, folder, size, etag FROM items WHERE parent = ? ORDER BY name");
  auto add = prepared("INSERT INTO items (parent, name, folder, size, etag, modified) VALUES (?, ?, ?, ?, ?, ?)");
  auto record = prepared("INSERT INTO records (item) VALUES (?)");
  std::map<string, int64_t> folders = {{"", 0}};
  std::vector<Job> downloads;
  Job first;
  std::vector<Job> lists;
  lists.push_back(std::move(first));
  network.give(std::move(lists));
  bool isOpen = false;
  while (true) {
    auto listed = network.take(1);
    if (listed.empty()) break;
    std::vector<Job> next;
    for (auto &job : listed) {
      auto parent = folders.at(job.path);
      struct Row { int64_t id; bool folder; int64_t size; string etag; };
      std::map<string, Row> rows;
      children.bind(parent);
      while (children.step()) {
        rows[children.text(0)] = {children.number(1), children.number(2) != 0, children.number(3), children.text(4)};
      }
      children.reset();
      for (auto &entry : job.entries) {
        if (entry.path == job.path) continue;
        auto name = entry.path.substr(job.path.empty() ? 0 : job.path.size() + 1);
        auto row = rows.find(name);
        int64_t id;
        if (row == rows.end()) {
          if (!isOpen) sql("BEGIN IMMEDIATE"), isOpen = true;
          add.bind(parent).bind(name).bind(entry.folder).bind(entry.size).bind(entry.etag).bind(entry.modified).run();
          id = sqlite3_last_insert_rowid(database);
          if (!entry.folder) {
            record.bind(id).run();
            Job download;
            download.kind = get, download.path = entry.path, download.etag = entry.etag, download.size = entry.size;
            download.item = id, download.record = sqlite3_last_insert_rowid(database);
            download.modified = entry.modified;
            downloads.push_back(std::move(download));
          }
        } else {
          id = row->second.id;
          check(row->second.folder == entry.folder && (entry.folder || row->second.etag == entry.etag), "a change");
        }
        if (entry.folder) {
          folders[entry.path] = id;
          Job list;
          list.path = entry.path;
          next.push_back(std::move(list));
        }
      }
    }
    network.give(std::move(next));
  }
  if (isOpen) sql("COMMIT");  // from here on the records are durable
  for (auto &[path, id] : folders)
    if (!path.empty()) check(mkdirat(tree, path.c_str(), 0700) == 0 || errno == EEXIST, path);
  network.give(std::move(downloads));
  auto digest = prepared("UPDATE records SET digest = ? WHERE id = ? AND digest IS NULL");
  auto complete = prepared("UPDATE items SET digest = ? WHERE id = ? AND etag = ? AND digest IS NULL");
  auto forget = prepared("DELETE FROM records WHERE id = ?");
  std::vector<Job> landed;
  auto completed = [&] {  // the renames were synced with the files after them
    for (auto &job : landed) {
      complete.bind(job.digest).bind(job.item).bind(job.etag).run();
      check(sqlite3_changes(database) == 1, "a row of " + job.path);
      forget.bind(job.record).run();
    }
    landed.clear();
  };
  while (true) {
    auto files = network.take(batch);
    if (files.empty()) break;
    check(syncfs(incoming) == 0, "syncfs");
    sql("BEGIN IMMEDIATE");
    completed();
    for (auto &job : files) digest.bind(job.digest).bind(job.record).run();
    sql("COMMIT");
    for (auto &job : files)
      check(syscall(SYS_renameat2, incoming, std::to_string(job.record).c_str(), tree, job.path.c_str(), 1) == 0, job.path);
    landed = std::move(files);
  }
  if (landed.empty()) return;
  check(syncfs(tree) == 0, "syncfs");
  sql("BEGIN IMMEDIATE");
  completed();
  sql("COMMIT");
}

// --------------------------------------------------------------------------------------------------------- the upload

static void upload(Pumps &network, const string &source) {
  auto add = prepared("INSERT INTO items (parent, name, folder, size) VALUES (?, ?, ?, ?)");
  auto record = prepared("INSERT INTO records (item, digest) VALUES (?, ?)");
  auto complete = prepared("UPDATE items SET etag = ?, modified = ?, digest = ? WHERE id = ? AND etag IS NULL");
  auto forget = prepared("DELETE FROM records WHERE id = ?");
  std::map<string, int64_t> folders = {{"", 0}};
  std::vector<Job> uploads;
  sql("BEGIN IMMEDIATE");
  auto send = [&] {
    if (uploads.empty()) return;
    sql("COMMIT");
    network.give(std::exchange(uploads, {}));
    sql("BEGIN IMMEDIATE");
  };
  auto easy = curl_easy_init();
  for (auto &found : fs::recursive_directory_iterator(source)) {
    auto path = found.path().string().substr(source.size() + 1);
    auto slash = path.rfind('/');
    auto parent = folders.at(slash == string::npos ? "" : path.substr(0, slash));
    auto name = slash == string::npos ? path : path.substr(slash + 1);
    if (found.is_directory()) {
      add.bind(parent).bind(name).bind(1).bind(int64_t(0)).run();
      folders[path] = sqlite3_last_insert_rowid(database);
      curl_easy_setopt(easy, CURLOPT_URL, (root + encoded(path)).c_str());
      curl_easy_setopt(easy, CURLOPT_USERPWD, login.c_str());
      curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, "MKCOL");
      curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
      check(curl_easy_perform(easy) == CURLE_OK, path);
      continue;
    }
    Job job;
    job.kind = put, job.path = path, job.size = int64_t(found.file_size());
    int file = open(found.path().c_str(), O_RDONLY | O_CLOEXEC);
    check(file >= 0, path);
    add.bind(parent).bind(name).bind(int64_t(0)).bind(job.size).run();
    job.item = sqlite3_last_insert_rowid(database);
    if (job.size <= inMemory) {
      job.bytes.resize(size_t(job.size));
      check(read(file, job.bytes.data(), job.bytes.size()) == ssize_t(job.size), path);
      close(file);
      EVP_Digest(job.bytes.data(), job.bytes.size(), job.digest, nullptr, EVP_sha256(), nullptr);
      record.bind(job.item).bind(job.digest).run();
    } else {
      job.source = file;
      record.bind(job.item).run();
    }
    job.record = sqlite3_last_insert_rowid(database);
    uploads.push_back(std::move(job));
    if (uploads.size() == 256) send();
  }
  send();
  sql("COMMIT");
  curl_easy_cleanup(easy);
  // One listing of a folder says what the server has made of all its files.
  auto sent = network.take(SIZE_MAX);
  std::vector<Job> lists;
  for (auto &[path, id] : folders) {
    Job job;
    job.path = path;
    lists.push_back(std::move(job));
  }
  network.give(std::move(lists));
  std::map<string, Entry> entries;
  for (auto &listed : network.take(SIZE_MAX))
    for (auto &entry : listed.entries) entries[entry.path] = entry;
  sql("BEGIN IMMEDIATE");
  for (auto &job : sent) {
    auto &entry = entries.at(job.path);
    check(entry.size == job.size, "another size of " + job.path);
    complete.bind(entry.etag).bind(entry.modified).bind(job.digest).bind(job.item).run();
    forget.bind(job.record).run();
  }
  sql("COMMIT");
}

int main(int count, char **words) {
  if (count < 5 || (string(words[1]) == "put" && count < 6)) {
    fprintf(stderr, "usage: limits mirror URL USER:PASSWORD VAULT | limits put URL USER:PASSWORD VAULT SOURCE\n");
    return 64;
  }
  root = words[2], login = words[3];
  auto host = root.find("//") + 2;
  rootPath = decoded(root.substr(root.find('/', host)));
  curl_global_init(CURL_GLOBAL_ALL);
  openVault(words[4]);
  Pumps network;
  if (string(words[1]) == "put") upload(network, words[5]);
  else mirror(network);
  network.stop();
  sqlite3_close(database);
}
