class Readme {
  void run() {
    /* 1 */
  }
}
