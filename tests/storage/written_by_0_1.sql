BEGIN TRANSACTION;
CREATE TABLE bough_schema (version INTEGER NOT NULL);
INSERT INTO "bough_schema" VALUES(1);
CREATE TABLE bough_studies (
        id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, space TEXT NOT NULL, direction TEXT NOT NULL,
        method TEXT NOT NULL, seed BIGINT NOT NULL, created  NOT NULL,
        trials BIGINT NOT NULL,    -- how many there are, so the number of the next one
        revision BIGINT NOT NULL   -- counts the transactions that changed the study
    );
INSERT INTO "bough_studies" VALUES(1,'old','{
 "model": {
  "type": "choice",
  "options": {
   "svm": {
    "C": {
     "type": "float",
     "low": 0.001,
     "high": 1000.0,
     "log": true
    }
   },
   "forest": {
    "trees": {
     "type": "int",
     "low": 1,
     "high": 30
    }
   }
  }
 },
 "scale": {
  "type": "categorical",
  "options": [
   "none",
   "standard",
   null
  ]
 }
}','minimize','{"name": "random", "options": {}}',3,1.79480201846699857718e+09,6,10);
INSERT INTO "bough_studies" VALUES(2,'upward','{
 "model": {
  "type": "choice",
  "options": {
   "svm": {
    "C": {
     "type": "float",
     "low": 0.001,
     "high": 1000.0,
     "log": true
    }
   },
   "forest": {
    "trees": {
     "type": "int",
     "low": 1,
     "high": 30
    }
   }
  }
 },
 "scale": {
  "type": "categorical",
  "options": [
   "none",
   "standard",
   null
  ]
 }
}','maximize','{"name": "tpe", "options": {}}',1,1.79480201852598047259e+09,2,5);
INSERT INTO "bough_studies" VALUES(3,'served','{
 "model": {
  "type": "choice",
  "options": {
   "svm": {
    "C": {
     "type": "float",
     "low": 0.001,
     "high": 1000.0,
     "log": true
    }
   },
   "forest": {
    "trees": {
     "type": "int",
     "low": 1,
     "high": 30
    }
   }
  }
 },
 "scale": {
  "type": "categorical",
  "options": [
   "none",
   "standard",
   null
  ]
 }
}','minimize','{"name": "random", "options": {}}',0,1.79480201855800604827e+09,2,4);
CREATE TABLE bough_trials (
        study BIGINT NOT NULL REFERENCES bough_studies (id) ON DELETE CASCADE, number BIGINT NOT NULL,
        config TEXT NOT NULL, state TEXT NOT NULL, value , noise , cost , error TEXT,
        attempt INTEGER NOT NULL, started , finished , worker TEXT, expires ,
        revision BIGINT NOT NULL,  -- of the study when the trial last changed
        operation TEXT,            -- who inserted it or handed it out last; see SqlStorage
        PRIMARY KEY (study, number)
    );
INSERT INTO "bough_trials" VALUES(1,0,'{"model": "forest", "trees": 3, "scale": null}','done',-1.5,0.25,NULL,NULL,0,NULL,1.79480201847701668739e+09,NULL,NULL,2,'86bad07c834abb01');
INSERT INTO "bough_trials" VALUES(1,1,'{"model": "svm", "C": 0.11173918315869491, "scale": "standard"}','done',0.5,0.125,2.0,NULL,1,1.79480201848401737215e+09,1.79480201849198341373e+09,'vm:19807',NULL,4,NULL);
INSERT INTO "bough_trials" VALUES(1,2,'{"model": "svm", "C": 75.9711006163577, "scale": null}','failed',NULL,NULL,NULL,'no memory',1,1.79480201849600672723e+09,1.79480201849701261518e+09,'vm:19807',NULL,6,NULL);
INSERT INTO "bough_trials" VALUES(1,3,'{"model": "svm", "C": 987.39096652296, "scale": "none"}','done',0.0,NULL,NULL,NULL,1,1.79480201850401306154e+09,1.79480201850799608235e+09,'vm:19807',NULL,8,NULL);
INSERT INTO "bough_trials" VALUES(1,4,'{"model": "forest", "trees": 4, "scale": "standard"}','running',NULL,NULL,NULL,NULL,1,1.79480201850900197031e+09,NULL,'vm:19807',NULL,9,'cd7a5eca264ec901');
INSERT INTO "bough_trials" VALUES(1,5,'{"model": "svm", "C": 2.5, "scale": "none"}','queued',NULL,NULL,NULL,NULL,0,NULL,NULL,NULL,NULL,10,'25d2bfee102fb18e');
INSERT INTO "bough_trials" VALUES(2,0,'{"model": "forest", "trees": 7, "scale": "standard"}','done',3.0,NULL,NULL,NULL,1,1.79480201853100967404e+09,1.79480201853998160357e+09,'vm:19807',NULL,3,NULL);
INSERT INTO "bough_trials" VALUES(2,1,'{"model": "svm", "C": 0.8153293832736499, "scale": "standard"}','done',4.0,NULL,NULL,NULL,1,1.79480201854999971396e+09,1.79480201855201125147e+09,'vm:19807',NULL,5,NULL);
INSERT INTO "bough_trials" VALUES(3,0,'{"model": "svm", "C": 2.5, "scale": "none"}','running',NULL,NULL,NULL,NULL,1,1.79480201860499835012e+09,NULL,'alice#YRLJxpn7lkLE9JZj9qxN',NULL,4,'d862af9a608bd6c8');
INSERT INTO "bough_trials" VALUES(3,1,'{"model": "svm", "C": 3.5, "scale": "none"}','queued',NULL,NULL,NULL,NULL,0,NULL,NULL,'alice#7Lfkfn0VK7lRoxjYiong',NULL,3,'b03f7ede9472754b');
CREATE INDEX bough_trials_changes ON bough_trials (study, revision);
CREATE INDEX bough_trials_open ON bough_trials (study, number) WHERE state IN ('queued', 'running');
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('bough_studies',3);
COMMIT;
